package controlplane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/check/internal/controlplane"
	"github.com/operkit/operkit/tools/check/internal/repository"
	"github.com/operkit/operkit/tools/check/internal/repotest"
)

// fakeVariable makes this test binary a launcher; its value says how that one behaves.
const fakeVariable = "OPERKIT_TEST_LAUNCHER"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeVariable); how != "" {
		os.Exit(fakeLauncher(how, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeLauncher takes the commands of the real one. Its folder tells what it was called with and how it ended.
func fakeLauncher(how string, args []string) int {
	if args[0] == "build" {
		fmt.Fprintln(os.Stderr, "building 1/1")
		if how == "build fails" {
			return 1
		}
		path, _ := os.Executable()
		if how == "build prints nonsense" {
			path = "/nowhere/devcluster"
		}
		fmt.Println(path)
		return 0
	}
	dir := args[slices.Index(args, "--dir")+1]
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	write("args", strings.Join(args, "\n"))
	fmt.Println("starting etcd")
	switch how {
	case "fails at once":
		fmt.Fprintln(os.Stderr, "etcd: no space left")
		return 1
	case "never ready":
		write("state.json", `{"ready": false}`)
	default:
		write("state.json", `{"rea`)
		time.Sleep(100 * time.Millisecond)
		write("state.json", `{"ready": true}`)
	}
	if how == "dies" {
		time.Sleep(100 * time.Millisecond)
		fmt.Fprintln(os.Stderr, "apiserver: crashed")
		return 3
	}
	if how == "does not stop" {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		time.Sleep(5 * time.Minute)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if witness := os.Getenv("OPERKIT_TEST_WITNESS"); witness != "" {
		_ = os.WriteFile(witness, []byte("the pipe ended"), 0o600)
	}
	return 0
}

func launcher(t *testing.T, how string) controlplane.Launcher {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	repotest.Write(t, root, repotest.Files{
		"examples/guestbook/config/crd/guestbooks.yaml":    "",
		"examples/testdata/config/crd/not.yaml":            "",
		"reconcile/temporarypatch/config/crd/patches.yaml": "",
		"reconcile/crd/not.yaml":                           "",
	})
	return controlplane.Launcher{
		Root: root, Dir: root, Env: append(os.Environ(), fakeVariable+"="+how), Command: []string{self},
		Stderr: io.Discard,
	}
}

func TestUp(t *testing.T) {
	t.Parallel()
	l := launcher(t, "works")
	witness := filepath.Join(t.TempDir(), "witness")
	l.Env = append(l.Env, "OPERKIT_TEST_WITNESS="+witness)
	plane, err := l.Up(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(plane.Dir, "args"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"up", "--until-eof", "--audit", "--dir", plane.Dir,
		"--crds", filepath.Join(l.Root, "examples/guestbook/config/crd"),
		"--crds", filepath.Join(l.Root, "reconcile/temporarypatch/config/crd"),
	}
	if got := strings.Split(string(args), "\n"); !slices.Equal(got, want) {
		t.Errorf("called with %q, want %q", got, want)
	}
	if len(plane.Dir) > 60 {
		t.Errorf("folder %s: too long for the unix sockets in it", plane.Dir)
	}
	if err := plane.Alive(); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	for range 2 { // stopping twice is fine
		if err := plane.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	if text, err := os.ReadFile(witness); err != nil || string(text) != "the pipe ended" {
		t.Errorf("it did not end by the end of its pipe: %q, %v", text, err)
	}
	if _, err := os.Stat(plane.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder %s is left (%v)", plane.Dir, err)
	}
}

// A run sees the environment of the run before it, or the go command would take none of the results it knows.
func TestUpAgain(t *testing.T) {
	t.Parallel()
	l := launcher(t, "works")
	up := func() *controlplane.ControlPlane {
		t.Helper()
		plane, err := l.Up(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = plane.Stop() })
		return plane
	}
	first := up()
	atTheSameTime := up()
	if atTheSameTime.Dir == first.Dir {
		t.Errorf("two that run have the same folder %s", first.Dir)
	}
	if err := errors.Join(first.Stop(), atTheSameTime.Stop()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(atTheSameTime.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder %s is left (%v)", atTheSameTime.Dir, err)
	}
	leftBehind := filepath.Join(first.Dir, "state.json")
	if err := os.MkdirAll(leftBehind, 0o700); err != nil { // as by a run that was killed
		t.Fatal(err)
	}
	second := up()
	if second.Dir != first.Dir {
		t.Errorf("the next run has its folder in %s, want %s as before", second.Dir, first.Dir)
	}
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}
	l.Program = "/another/program"
	if another := up(); another.Dir == first.Dir {
		t.Errorf("another control plane has the same folder %s: results with the first one would count", first.Dir)
	}
}

func TestUpErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		how  string
		want []string
	}{
		{"fails at once", []string{"ended before it was ready", "starting etcd", "etcd: no space left"}},
		{"never ready", []string{"stopped before it was ready", "starting etcd", "did not become ready in 500ms"}},
	} {
		t.Run(row.how, func(t *testing.T) {
			t.Parallel()
			l := launcher(t, row.how)
			l.StartTime = 500 * time.Millisecond
			_, err := l.Up(t.Context())
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range row.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %v without %q", err, part)
				}
			}
		})
	}
	missing := launcher(t, "works")
	missing.Command = []string{"/nowhere/launcher"}
	if _, err := missing.Up(t.Context()); err == nil || !strings.Contains(err.Error(), "/nowhere/launcher") {
		t.Errorf("no launcher: %v, want an error that names it", err)
	}
}

func TestUpEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := launcher(t, "never ready").Up(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the one of the context", err)
	}
}

func TestAliveTellsOfAnEnd(t *testing.T) {
	t.Parallel()
	plane, err := launcher(t, "dies").Up(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if err = plane.Alive(); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "apiserver: crashed") {
		t.Errorf("error %v, want the exit code and the output", err)
	}
	if err := plane.Stop(); err != nil {
		t.Errorf("stop after the end: %v", err)
	}
}

func TestStopKillsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	l := launcher(t, "does not stop")
	l.StopTime = 200 * time.Millisecond
	plane, err := l.Up(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.Stop(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("stop: %v, want an error that says it was killed", err)
	}
	if plane.Alive() == nil {
		t.Error("it still runs")
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	var progress bytes.Buffer
	l := launcher(t, "works")
	l.Stderr = &progress
	path, err := l.Build(t.Context())
	if self, _ := os.Executable(); err != nil || path != self {
		t.Errorf("program %q, error %v; want %q", path, err, self)
	}
	if progress.String() != "building 1/1\n" {
		t.Errorf("progress %q", &progress)
	}
	for how, want := range map[string]string{
		"build fails":           "exit status 1",
		"build prints nonsense": `printed "/nowhere/devcluster", which is not the path of a program`,
	} {
		if _, err := launcher(t, how).Build(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
	}
}

func TestNeeded(t *testing.T) {
	t.Parallel()
	const envtest = repository.Prefix + "/tools/envtest"
	files := repotest.Files{
		"tools/envtest/envtest.go":              "package envtest\n",
		"tools/envtest/audit/audit.go":          "package audit\n",
		"dag/dag.go":                            "package dag\n",
		"status/status_test.go":                 repotest.Package("status", "testing", envtest+"/audit"),
		"deploy/deploytest/suite.go":            repotest.Package("deploytest", envtest),
		"deploy/deploy.go":                      "package deploy\n",
		"deploy/deploy_test.go":                 repotest.Package("deploy_test", repository.Prefix+"/deploy/deploytest"),
		"reconcile/reconcile_test.go":           repotest.Package("reconcile", "nowhere.test/broken"),
		"tools/peers/dag/peer.go":               "package peer\n",
		"tools/peers/deploy/peer_test.go":       repotest.Package("peer", envtest),
		"tools/peers/deploy/go.mod":             "module " + repository.Prefix + "/tools/peers/deploy\n\ngo 1.26.0\n\nrequire " + envtest + " v0.0.0\n\nreplace " + envtest + " => ../../envtest\n",
		"tools/peers/deploy/testdata/ignore.go": "no go",
	}
	r := repotest.New(t, []string{"dag", "deploy", "empty", "reconcile", "status", "tools/envtest", "tools/peers/dag", "tools/peers/deploy"}, files)
	for _, row := range []struct {
		reason, modules string
		want            bool
	}{
		{"no test depends on it", "dag,tools/peers/dag", false},
		{"a test depends on it through another package", "dag,deploy", true},
		{"a module outside of the workspace", "tools/peers/deploy", true},
		{"its own tests", "tools/envtest", true},
		{"a package below it starts no control plane", "status", false},
		{"a package that does not build is left to the test run", "reconcile,dag", false},
		{"a module without packages", "empty", false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			modules, err := r.Select(row.modules)
			if err != nil {
				t.Fatal(err)
			}
			got, err := controlplane.Needed(t.Context(), r, modules)
			if err != nil || got != row.want {
				t.Errorf("%v, %v; want %v", got, err, row.want)
			}
		})
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	const envtest = repository.Prefix + "/tools/envtest"
	r := repotest.New(t, []string{"dag", "deploy", "operator"}, repotest.Files{
		"deploy/go.mod":   "module " + repository.Prefix + "/deploy\n\ngo 1.26.0\n\nrequire " + envtest + " v0.0.0\n",
		"operator/go.mod": "module " + repository.Prefix + "/operator\n\ngo 1.26.0\n\nrequire " + envtest + " v0.0.0 // indirect\n",
	})
	users, err := controlplane.Users(t.Context(), r, r.Modules)
	if want := map[string]bool{"deploy": true}; err != nil || !maps.Equal(users, want) {
		t.Errorf("%v, %v; want %v", users, err, want)
	}
	if _, err := controlplane.Users(t.Context(), r, []repository.Module{{Dir: "nowhere"}}); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a module that isn't there: %v", err)
	}
}
