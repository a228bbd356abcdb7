package gotest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

const good = `package good

import (
	"os"
	"testing"
)

func TestGood(t *testing.T) {}

func TestVariable(t *testing.T) {
	if os.Getenv("GIVEN") != "yes" {
		t.Error("GIVEN is not set")
	}
}
`

func TestRunner(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"broken", "dag", "empty", "tools/devcluster", "tools/peers/dag"}, repotest.Files{
		"broken/go.mod":                      "module github.com/operkit/operkit/broken\n\ngo 1.26.0\n\nrequire nowhere.test/x v1.0.0\n",
		"broken/a_test.go":                   "package broken\n",
		"go.work":                            "go 1.26.0\nuse ./dag\nuse ./empty\n",
		"dag/good_test.go":                   good,
		"tools/devcluster/go_test.go":        "package devcluster\n\nimport \"testing\"\n\nfunc TestPlane(t *testing.T) {}\n",
		"tools/devcluster/cgo_test.go":       "//go:build cgo\n\npackage devcluster\n\nfunc init() { panic(\"cgo is on\") }\n",
		"tools/peers/dag/sub/workspace.go":   "package sub\n",
		"tools/peers/dag/sub/fails_test.go":  "package sub\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Error(\"as it should\") }\n",
		"tools/peers/dag/other/skip_test.go": "package other\n\nimport \"testing\"\n\nfunc TestSkips(t *testing.T) { t.Skip(\"no reason\") }\n",
	})
	var out, problems bytes.Buffer
	runner := gotest.Runner{Repository: r, Stdout: &out, Stderr: &problems, Env: []string{"GIVEN=yes"}}
	tally, err := runner.All(t.Context(), r.Modules)
	if err != nil {
		t.Fatal(err)
	}
	if want := (gotest.Tally{Passed: 3, Failed: 2, Skipped: 1}); tally != want {
		t.Errorf("counts %v, want %v\n%s%s", tally, want, &out, &problems)
	}
	for _, want := range []string{
		"[1/5] broken\n", "[1/5] broken: passed=0 failed=1 skipped=0 in ",
		"ok  \tgithub.com/operkit/operkit/dag\t", "[2/5] dag: passed=2 failed=0 skipped=0 in ",
		"[3/5] empty: no packages\n",
		"[4/5] tools/devcluster: passed=1 ",
		"as it should", "no reason", "[5/5] tools/peers/dag: passed=0 failed=1 skipped=1 in ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed\n%s\nwithout %q", &out, want)
		}
	}
	results, err := gotest.ReadResults(gotest.StreamFile(r, r.Modules[1]))
	if err != nil || len(results) != 2 || !results[0].Passed {
		t.Errorf("results kept: %v, %v; want the two of dag", results, err)
	}
}

func TestRunnerFlags(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/good_test.go": good})
	var out, problems bytes.Buffer
	runner := gotest.Runner{Repository: r, Stdout: &out, Stderr: &problems, Run: "^TestGood$", Count: 3, Timeout: time.Minute}
	tally, err := runner.All(t.Context(), r.Modules)
	if want := (gotest.Tally{Passed: 3}); err != nil || tally != want {
		t.Errorf("counts %v, %v; want one test three times\n%s%s", tally, err, &out, &problems)
	}
	if _, err := os.Stat(gotest.StreamFile(r, r.Modules[0])); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run of some tests was kept as a complete one (%v)", err)
	}
	left, err := filepath.Glob(filepath.Join(r.Cache(), "test", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

const crowded = `package crowded

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

func TestAtOnce(t *testing.T) {
	if got, usual := flag.Lookup("test.parallel").Value.String(), strconv.Itoa(runtime.GOMAXPROCS(0)); got == usual {
		t.Errorf("as many tests at once as there are processors")
	}
}
`

// Tests that mostly wait run in larger numbers at once.
func TestRunnerOfTestsThatWait(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "deploy"}, repotest.Files{"dag/at_test.go": crowded, "deploy/at_test.go": crowded})
	var out, problems bytes.Buffer
	deploy := func(m repository.Module) bool { return m.Dir == "deploy" }
	runner := gotest.Runner{Repository: r, Stdout: &out, Stderr: &problems, Waiting: deploy}
	tally, err := runner.All(t.Context(), r.Modules)
	if want := (gotest.Tally{Passed: 1, Failed: 1}); err != nil || tally != want {
		t.Errorf("counts %v, %v; want deploy's passed and dag's failed\n%s%s", tally, err, &out, &problems)
	}
	if !strings.Contains(out.String(), "[2/2] deploy: passed=1 failed=0") {
		t.Errorf("printed\n%s", &out)
	}
}

// The go command takes a result that it knows while the test binary and what the test itself read are as they were.
// Tests of the tools have others read for them.
func TestRunnerTakesKnownResults(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "tools/operkit"}, repotest.Files{
		"dag/good_test.go": good, "tools/operkit/good_test.go": good,
	})
	for _, row := range []struct {
		reason, fingerprint string
		dag, tool           bool
	}{
		{"the first run", "1", false, false},
		{"nothing has changed", "1", true, true},
		{"a file somewhere has changed", "2", true, false},
		{"the file is as it was", "1", true, true},
	} {
		var out, problems bytes.Buffer
		runner := gotest.Runner{
			Repository: r, Stdout: &out, Stderr: &problems, Fingerprint: row.fingerprint, Env: []string{"GIVEN=yes"},
		}
		if tally, err := runner.All(t.Context(), r.Modules); err != nil || tally.Passed != 4 {
			t.Fatalf("%s: counts %v, error %v\n%s%s", row.reason, tally, err, &out, &problems)
		}
		for module, want := range map[string]bool{"dag": row.dag, "tools/operkit": row.tool} {
			if known := strings.Contains(out.String(), "operkit/"+module+"\t(cached)"); known != want {
				t.Errorf("%s: %s: a known result was taken: %v, want %v\n%s", row.reason, module, known, want, &out)
			}
		}
	}
}

func TestRunnerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status"}, repotest.Files{
		"dag/slow_test.go": "package dag\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\n" +
			"func TestSlow(t *testing.T) {\n\tos.WriteFile(\"started\", nil, 0o600)\n\ttime.Sleep(5 * time.Minute)\n}\n",
		"status/good_test.go": good,
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(r.Root, "dag", "started")); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var out, problems bytes.Buffer
	runner := gotest.Runner{Repository: r, Stdout: &out, Stderr: &problems}
	start := time.Now()
	tally, err := runner.All(ctx, r.Modules)
	if !errors.Is(err, context.Canceled) || tally.Failed != 1 {
		t.Errorf("counts %v, error %v; want one failure and the error of the context\n%s", tally, err, &problems)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(out.String(), "status") {
		t.Errorf("the next module was still run:\n%s", &out)
	}
	if _, err := os.Stat(gotest.StreamFile(r, r.Modules[0])); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the interrupted run was kept as a complete one (%v)", err)
	}
}

func TestFuzz(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "empty", "status"}, repotest.Files{
		"dag/fuzz_test.go":      "package dag\n\nimport \"testing\"\n\nfunc FuzzGood(f *testing.F) { f.Fuzz(func(t *testing.T, n int) {}) }\n",
		"dag/none/none_test.go": "package none\n",
		"status/fuzz_test.go": "package status\n\nimport \"testing\"\n\n" +
			"func FuzzBad(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(t *testing.T, n int) { t.Error(\"found\") })\n}\n",
	})
	for _, row := range []struct {
		module int
		each   time.Duration // a target that fails does so at once; on a busy machine its start takes a while
		err    string
		out    []string
	}{
		{0, 200 * time.Millisecond, "", []string{"fuzz github.com/operkit/operkit/dag FuzzGood for 200ms\n"}},
		{1, time.Second, "", nil},
		{2, time.Minute, "operkit/status FuzzBad: go test ", []string{"found"}},
	} {
		var out, problems bytes.Buffer
		runner := gotest.Runner{Repository: r, Stdout: &out, Stderr: &problems}
		err := runner.Fuzz(t.Context(), r.Modules[row.module:row.module+1], row.each)
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: error %v, want %q\n%s%s", r.Modules[row.module].Dir, err, row.err, &out, &problems)
		}
		for _, want := range row.out {
			if !strings.Contains(out.String(), want) {
				t.Errorf("printed\n%s\nwithout %q", &out, want)
			}
		}
	}
}
