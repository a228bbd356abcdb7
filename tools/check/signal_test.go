//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignalsEndWhatWasStarted builds the program, interrupts it in the middle of a test, and wants the control plane
// stopped, the test gone and the counts printed.
func TestSignalsEndWhatWasStarted(t *testing.T) {
	withoutCluster(t)
	slow := strings.NewReplacer(
		"func TestCluster(t *testing.T) {",
		"func TestCluster(t *testing.T) {\n\tpid := strconv.Itoa(os.Getpid())\n"+
			"\tos.WriteFile(filepath.Join(os.Getenv(\"WITNESS\"), \"testing\"), []byte(pid), 0o600)\n\ttime.Sleep(5 * time.Minute)",
		"\"testing\"\n", "\"strconv\"\n\t\"testing\"\n\t\"time\"\n",
	).Replace(clusterTest)
	checker := filepath.Join(t.TempDir(), "check")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", checker, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			r, witness := clusterRepository(t, program, slow)
			var stdout bytes.Buffer
			cmd := exec.Command(checker, "test", "-module", "examples")
			cmd.Dir, cmd.Stdout = r.Root, &stdout
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(waitFor(t, filepath.Join(witness, "testing")))
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("ended with %v, want exit code 1", err)
			}
			result{stdout: stdout.String()}.lastLine(t, "TESTS passed=0 failed=1 skipped=0")
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the test still runs (%v)", err)
			}
			waitFor(t, filepath.Join(witness, "stopped"))
			dir := waitFor(t, filepath.Join(witness, "started"))
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("folder %s is left (%v)", dir, err)
			}
		})
	}
}

// waitFor returns the contents of a file once it has some.
func waitFor(t *testing.T, file string) string {
	t.Helper()
	for range 6000 {
		if text, err := os.ReadFile(file); err == nil && len(text) > 0 {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: never written", file)
	return ""
}
