package controlplane_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/check/controlplane"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// fakeVariable makes this test binary the program of a control plane; its value says how that one behaves.
const fakeVariable = "OPERKIT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeVariable); how != "" {
		os.Exit(fakeProgram(how, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeProgram takes the command up of the real one. Its folder tells what it was called with.
func fakeProgram(how string, args []string) int {
	dir := args[slices.Index(args, "--dir")+1]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		panic(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	write("args", strings.Join(args, "\n"))
	if how == "fails" {
		fmt.Fprintln(os.Stderr, "etcd: no space left")
		return 1
	}
	write("state.json", fmt.Sprintf(`{"ready": true, "supervisorPID": %d}`, os.Getpid()))
	if how == "dies" {
		time.Sleep(100 * time.Millisecond)
		fmt.Fprintln(os.Stderr, "apiserver: crashed")
		return 3
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// start starts a control plane whose program behaves so, for a repository with definitions at root.
func start(t *testing.T, how, root string) (*controlplane.Plane, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(fakeVariable, how)
	t.Setenv(devcluster.BinaryVariable, self)
	repotest.Write(t, root, repotest.Files{
		"examples/guestbook/config/crd/guestbooks.yaml":    "",
		"examples/testdata/config/crd/not.yaml":            "",
		"reconcile/temporarypatch/config/crd/patches.yaml": "",
		"reconcile/crd/not.yaml":                           "",
	})
	binary, err := controlplane.Binary(t.Context(), io.Discard)
	if err != nil || binary != self {
		t.Fatalf("program %s, %v; want %s", binary, err, self)
	}
	return controlplane.Start(t.Context(), root, binary, io.Discard)
}

func TestStart(t *testing.T) {
	root := t.TempDir()
	up := func() *controlplane.Plane {
		t.Helper()
		plane, err := start(t, "works", root)
		if err != nil {
			t.Fatal(err)
		}
		return plane
	}
	first := up()
	args, err := os.ReadFile(filepath.Join(first.Dir, "args"))
	if err != nil {
		t.Fatal(err)
	}
	want := "--until-eof\n--audit\n--crds\n" + filepath.Join(root, "examples/guestbook/config/crd") + "\n--crds\n" + filepath.Join(root, "reconcile/temporarypatch/config/crd")
	if !strings.HasSuffix(string(args), want) {
		t.Errorf("called with %q, want %q at the end", args, want)
	}
	if len(first.Dir) > 60 {
		t.Errorf("folder %s: too long for the unix sockets in it", first.Dir)
	}
	if err := first.Alive(); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	atTheSameTime := up()
	if atTheSameTime.Dir == first.Dir {
		t.Errorf("two that run have the same folder %s", first.Dir)
	}
	if err := errors.Join(first.Stop(t.Context()), atTheSameTime.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{first.Dir, atTheSameTime.Dir} {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("folder %s is left (%v)", dir, err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "nowhere"), first.Dir); err != nil { // as by a run that was killed
		t.Fatal(err)
	}
	// A run sees the environment of the run before it, or the go command would take none of the results that it knows.
	second := up()
	if second.Dir != first.Dir {
		t.Errorf("the next run has its folder in %s, want %s as before", second.Dir, first.Dir)
	}
	if err := second.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStartErrors(t *testing.T) {
	_, err := start(t, "fails", t.TempDir())
	if err == nil || !strings.HasPrefix(err.Error(), "control plane: ") || !strings.Contains(err.Error(), "etcd: no space left") {
		t.Errorf("error %v, want one with the output", err)
	}
	t.Setenv(devcluster.BinaryVariable, "/nowhere/devcluster")
	if _, err := controlplane.Binary(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "/nowhere/devcluster") {
		t.Errorf("no program: %v, want an error that names it", err)
	}
}

func TestAliveTellsOfAnEnd(t *testing.T) {
	plane, err := start(t, "dies", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if err = plane.Alive(); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil || !strings.Contains(err.Error(), "apiserver: crashed") {
		t.Errorf("error %v, want the output", err)
	}
	if err := plane.Stop(t.Context()); err != nil {
		t.Errorf("stop after the end: %v", err)
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
			modules, err := repository.Select(r.Modules, row.modules)
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

func TestWaits(t *testing.T) {
	t.Parallel()
	const envtest = repository.Prefix + "/tools/envtest"
	r := repotest.New(t, []string{"dag", "deploy", "operator"}, repotest.Files{
		"deploy/go.mod":   "module " + repository.Prefix + "/deploy\n\ngo 1.26.0\n\nrequire " + envtest + " v0.0.0\n",
		"operator/go.mod": "module " + repository.Prefix + "/operator\n\ngo 1.26.0\n\nrequire " + envtest + " v0.0.0 // indirect\n",
	})
	for _, m := range r.Modules {
		if got, want := controlplane.Waits(m), m.Dir == "deploy"; got != want {
			t.Errorf("%s: %v; want %v", m.Dir, got, want)
		}
	}
}
