package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// result is what a call of the program did.
type result struct {
	code           int
	stdout, stderr string
}

func call(t *testing.T, dir string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), dir, args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// want checks the exit code and that the outputs hold parts.
func (r result) want(t *testing.T, code int, stdout, stderr []string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\n%s%s", r.code, code, r.stdout, r.stderr)
	}
	for _, part := range stdout {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("printed\n%s\nwithout %q", r.stdout, part)
		}
	}
	for _, part := range stderr {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("printed to standard error\n%s\nwithout %q", r.stderr, part)
		}
	}
}

// lastLine checks the last line of the standard output.
func (r result) lastLine(t *testing.T, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	if last := lines[len(lines)-1]; last != want {
		t.Errorf("last line %q, want %q\n%s%s", last, want, r.stdout, r.stderr)
	}
}

// withoutCluster hides the control plane of the run that this test may be part of, and does without the race detector,
// which makes every program that ends wait for a second.
func withoutCluster(t *testing.T) {
	t.Helper()
	t.Setenv("CGO_ENABLED", "0")
	t.Setenv(devcluster.Variable, "")
	t.Setenv(devcluster.BinaryVariable, "")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"help"}, {"--help"}} {
		call(t, t.TempDir(), args...).want(t, 0, []string{"Usage: check COMMAND", "test ", "arrows ", "generated "}, nil)
	}
	for _, row := range []struct {
		reason string
		args   []string
		code   int
		stderr string
	}{
		{"unknown command", []string{"chekc"}, 2, `check: command "chekc"`},
		{"unknown flag", []string{"test", "-fast"}, 2, "-fast"},
		{"an argument", []string{"format", "dag"}, 2, `check format: argument "dag"`},
		{"help of a command", []string{"test", "-h"}, 0, "-module"},
		{"outside of a repository", []string{"format"}, 1, "no go.work"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			call(t, t.TempDir(), row.args...).want(t, row.code, nil, []string{row.stderr})
		})
	}
}

func TestTestCounts(t *testing.T) {
	withoutCluster(t)
	r := repotest.New(t, []string{"dag", "status", "vcs"}, repotest.Files{
		"dag/dag_test.go":       "package dag\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"dag 1: b\", func(t *testing.T) {}) }\n",
		"status/status_test.go": "package status\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Skip(\"later\") }\n\nfunc TestB(t *testing.T) {}\n",
		"vcs/vcs_test.go":       "package vcs\n\nfunc init() { undefined() }\n",
	})
	passes := call(t, filepath.Join(r.Root, "dag"), "test", "-module", "dag")
	passes.want(t, 0, []string{"race detector: off, ", "[1/1] dag\nok  \t"}, nil)
	passes.lastLine(t, "TESTS passed=2 failed=0 skipped=0")

	skips := call(t, r.Root, "test", "-module", "dag,status")
	skips.want(t, 1, []string{"later"}, nil)
	skips.lastLine(t, "TESTS passed=3 failed=0 skipped=1")

	fails := call(t, r.Root, "test", "-count", "2")
	fails.want(t, 1, []string{"undefined: undefined"}, nil)
	fails.lastLine(t, "TESTS passed=6 failed=1 skipped=2")

	none := call(t, r.Root, "test", "-module", "dag", "-run", "^TestNothing$")
	none.want(t, 1, nil, []string{"dag: no test matches -run ^TestNothing$"})
	none.lastLine(t, "TESTS passed=0 failed=1 skipped=0")

	half := call(t, r.Root, "test", "-module", "dag,status", "-run", "^TestB$")
	half.want(t, 1, []string{"ok  \t"}, []string{"dag: no test matches -run ^TestB$"})
	half.lastLine(t, "TESTS passed=1 failed=1 skipped=0")
	call(t, r.Root, "test", "-run", "^TestB$").want(t, 1, []string{"undefined"}, nil) // of vcs, not of dag

	call(t, r.Root, "test", "-module", "dog").want(t, 1, nil, []string{`module "dog"`})

	repotest.Git(t, r.Root)
	call(t, r.Root, "rules").want(t, 0, []string{"rules      ok, 0 of 0 rules are proven"}, nil)
	repotest.Write(t, r.Root, repotest.Files{"dag/RULES.md": "- **dag 1**: One.\n"})
	call(t, r.Root, "rules").want(t, 0, []string{"rules      ok, 1 of 1 rules are proven"}, nil)
	repotest.Write(t, r.Root, repotest.Files{"dag/RULES.md": "- **dag 1**: One.\n- **dag 2**: Two.\n"})
	call(t, r.Root, "rules").want(t, 1, []string{"rules      FAILED, 1 problem, 1 of 2", "dag/RULES.md:2: dag 2: no passed test"}, nil)
}

// TestTestFindsRaces has a test with a data race, which fails exactly where the detector can run.
func TestTestFindsRaces(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		"dag/dag_test.go": "package dag\n\nimport \"testing\"\n\nfunc TestRace(t *testing.T) {\n\tn, done := 0, make(chan int)\n" +
			"\tgo func() { n++; done <- n }()\n\tn++\n\t<-done\n}\n",
	})
	got := call(t, r.Root, "test")
	if strings.HasPrefix(got.stdout, "race detector: on\n") {
		got.want(t, 1, []string{"DATA RACE"}, nil)
		got.lastLine(t, "TESTS passed=0 failed=1 skipped=0")
		return
	}
	got.want(t, 0, []string{"race detector: off, "}, nil)
	got.lastLine(t, "TESTS passed=1 failed=0 skipped=0")
}

func TestSoak(t *testing.T) {
	withoutCluster(t)
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		"dag/dag_test.go": "package dag\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestA(t *testing.T) {\n" +
			"\tend, _ := t.Deadline()\n\tif os.Getenv(\"OPERKIT_SOAK\") != \"1\" || os.Getenv(\"OPERKIT_EXPLORE\") == \"\" || time.Until(end) < 3*time.Hour {\n\t\tt.Error(\"no soak\")\n\t}\n}\n",
	})
	call(t, r.Root, "test").lastLine(t, "TESTS passed=0 failed=1 skipped=0")
	soak := call(t, r.Root, "test", "-soak")
	soak.want(t, 0, nil, nil)
	soak.lastLine(t, "TESTS passed=1 failed=0 skipped=0")
}

// program is one that takes the command up of the control plane's and tells in the folder WITNESS what it did.
const program = `package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

func tell(name, text string) {
	if err := os.WriteFile(filepath.Join(os.Getenv("WITNESS"), name), []byte(text), 0o600); err != nil {
		panic(err)
	}
}

func main() {
	dir := os.Args[slices.Index(os.Args, "--dir")+1]
	tell("started", dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "state.json"), fmt.Appendf(nil, "{\"ready\": true, \"supervisorPID\": %d}", os.Getpid()), 0o600); err != nil {
		panic(err)
	}
	time.Sleep(200 * time.Millisecond)
	io.Copy(io.Discard, os.Stdin)
	tell("stopped", "in good order")
}
`

// clusterTest passes where the control plane is the one that the variables name.
const clusterTest = `package examples

import (
	"os"
	"path/filepath"
	"testing"

	_ "github.com/operkit/operkit/tools/envtest"
)

func TestCluster(t *testing.T) {
	if _, err := os.Stat(filepath.Join(os.Getenv("OPERKIT_DEVCLUSTER"), "state.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(os.Getenv("OPERKIT_DEVCLUSTER_BINARY")); err != nil {
		t.Error(err)
	}
}
`

// clusterRepository has a test that needs a control plane, whose program is built of the source.
func clusterRepository(t *testing.T, source, test string) (r *repository.Repository, witness string) {
	t.Helper()
	witness = t.TempDir()
	t.Setenv("WITNESS", witness)
	folder := t.TempDir()
	repotest.Write(t, folder, repotest.Files{"main.go": source, "go.mod": "module program\n\ngo 1.26.0\n"})
	build := exec.Command("go", "build", "-o", "devcluster", ".")
	build.Dir, build.Env = folder, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv(devcluster.BinaryVariable, filepath.Join(folder, "devcluster"))
	return repotest.New(t, []string{"examples", "tools/envtest"}, repotest.Files{
		"tools/envtest/envtest.go":  "package envtest\n",
		"examples/examples_test.go": test,
	}), witness
}

func TestTestStartsOneControlPlane(t *testing.T) {
	withoutCluster(t)
	r, witness := clusterRepository(t, program, clusterTest)
	got := call(t, r.Root, "test")
	got.want(t, 0, []string{"control plane: ready after "}, nil)
	got.lastLine(t, "TESTS passed=1 failed=0 skipped=0")
	dir, err := os.ReadFile(filepath.Join(witness, "started"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(dir)); !os.IsNotExist(err) {
		t.Errorf("folder %s is left (%v)", dir, err)
	}
	if _, err := os.Stat(filepath.Join(witness, "stopped")); err != nil {
		t.Errorf("it wasn't stopped in good order: %v", err)
	}
}

func TestTestTakesTheControlPlaneThatIsThere(t *testing.T) {
	withoutCluster(t)
	r, witness := clusterRepository(t, program, clusterTest)
	there := t.TempDir()
	repotest.Write(t, there, repotest.Files{"state.json": "{}"})
	t.Setenv(devcluster.Variable, there)
	got := call(t, r.Root, "test")
	got.want(t, 0, []string{"control plane: the one in " + there}, nil)
	if left, err := os.ReadDir(witness); err != nil || len(left) > 0 {
		t.Errorf("the program was started: %v, %v", left, err)
	}
}

// TestTestOfTheControlPlaneGetsItsProgram runs the tests of the control plane itself, which start their own.
func TestTestOfTheControlPlaneGetsItsProgram(t *testing.T) {
	withoutCluster(t)
	_, witness := clusterRepository(t, program, clusterTest)
	r := repotest.New(t, []string{"tools/devcluster", "tools/envtest"}, repotest.Files{
		"tools/envtest/envtest.go": "package envtest\n",
		"tools/devcluster/program_test.go": "package devcluster\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestProgram(t *testing.T) {\n" +
			"\tif _, err := os.Stat(os.Getenv(\"OPERKIT_DEVCLUSTER_BINARY\")); err != nil {\n\t\tt.Error(err)\n\t}\n}\n",
	})
	got := call(t, r.Root, "test", "-module", "tools/devcluster")
	got.want(t, 0, nil, nil)
	got.lastLine(t, "TESTS passed=1 failed=0 skipped=0")
	if _, err := os.Stat(filepath.Join(witness, "started")); !os.IsNotExist(err) {
		t.Errorf("a control plane was started (%v)", err)
	}
}

func TestTestFailsWithoutControlPlane(t *testing.T) {
	withoutCluster(t)
	r, _ := clusterRepository(t, strings.Replace(program, `tell("started", dir)`, `if dir != "" { println("no disk space"); os.Exit(1) }`, 1), clusterTest)
	got := call(t, r.Root, "test")
	got.want(t, 1, nil, []string{"check test: control plane: ", "no disk space"})
	got.lastLine(t, "TESTS passed=0 failed=1 skipped=0")
	t.Setenv(devcluster.BinaryVariable, "/nowhere/devcluster")
	got = call(t, r.Root, "test")
	got.want(t, 1, nil, []string{"check test: control plane: ", "/nowhere/devcluster"})
	got.lastLine(t, "TESTS passed=0 failed=1 skipped=0")
}

func TestTestTellsWhenTheControlPlaneDied(t *testing.T) {
	withoutCluster(t)
	dies := strings.Replace(program, "io.Copy(io.Discard, os.Stdin)", `io.WriteString(os.Stderr, "etcd: gone\n"); os.Exit(1)`, 1)
	slow := strings.Replace(clusterTest, "func TestCluster(t *testing.T) {", "func TestCluster(t *testing.T) {\n\ttime.Sleep(time.Second)", 1)
	r, _ := clusterRepository(t, dies, strings.Replace(slow, `"testing"`, "\"testing\"\n\t\"time\"", 1))
	call(t, r.Root, "test").want(t, 1, nil, []string{"it ended during the run", "etcd: gone"})
}

func TestAll(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status"}, repotest.WithTools(t, repotest.Files{
		"README.md":        "# Two\n\n| [dag](dag) | graphs |\n",
		"dag/doc.go":       "// Package dag is in order.\npackage dag\n\n// Max is one.\nconst Max = 1\n",
		"dag/README.md":    "# dag\n\n<!-- file: dag/budget.txt -->\n```\nmodules 0\n```\n",
		"dag/CHANGELOG.md": "# Changes\n",
		"dag/budget.txt":   "modules 0\n",
		"status/doc.go":    "// Package status is, too.\npackage status\n",
		"status/README.md": "# status\n",
	}))
	repotest.Git(t, r.Root)
	good := call(t, r.Root, "all")
	good.want(t, 0, []string{
		"modules    ok, 3 modules", "large      ok", "format     ok", "snippets   ok, 1 snippets", "messages   ok", "testnames  ok", "lint       ok", "arrows     ok",
		"budgets    ok, 1 budgets", "licences   ok, 0 modules", "vulnerabilities ok", "docs       ok, 0 functions, fields and methods, 0 entry points", "tidy       ok", "generated  ok", "rules      ok",
	}, nil)
	good.lastLine(t, "CHECKS passed=15 failed=0")
	call(t, r.Root, "budgets", "-v").want(t, 0, []string{"note: dag: 0 of 0 modules"}, nil)
	call(t, r.Root, "licences", "-v").want(t, 0, []string{"licences   ok, 0 modules"}, nil)
}

func TestAllListsEveryProblem(t *testing.T) {
	t.Parallel()
	const dag = repository.Prefix + "/dag"
	r := repotest.New(t, []string{"dag", "status", "tools/peers/dag"}, repotest.Files{
		"go.work":                 "go 1.26.0\nuse ./dag\nuse ./status\nuse ./tools/peers/dag\n",
		"dag/dag.go":              "package dag\nvar   x int = \"text\"\n",
		"dag/RULES.md":            "- **dag 1**: One.\n",
		"status/status.go":        repotest.Package("status", dag),
		"tools/peers/dag/peer.go": "package peer\n\n//go:generate sh -c \"echo new >made.txt\"\n",
		"dag/CHANGELOG.md":        "# Changes\n",
		"dag/built":               strings.Repeat("x", 1<<20+1),
		"dag/README.md":           "# dag\n\n<!-- file: dag/none.go -->\n",
		"dag/a_test.go":           "package dag\n\nfunc ExampleA() {}\n",
		"dag/b_test.go":           "package dag_test\n\nfunc ExampleA() {}\n",
	})
	repotest.Git(t, r.Root)
	got := call(t, r.Root, "all")
	got.want(t, 1, []string{
		"modules    FAILED, 1 problem, 3 modules", "    go.work: tools/peers/dag must not be in it",
		"large      FAILED, 1 problem", "    dag/built: 1.0 MB",
		"format     FAILED, 1 problem", "    dag/dag.go: not formatted",
		"snippets   FAILED, 1 problem", "    dag/README.md:3: no fenced block",
		"testnames  FAILED, 1 problem", "    dag/b_test.go: ExampleA is declared in a_test.go too",
		"lint       FAILED, 1 problem", "    tools/lint: ",
		"arrows     FAILED, 1 problem", "    " + repository.Prefix + "/status -> " + dag + ": status may import only its own packages, the standard library, golang.org/x/sync/..., k8s.io/apimachinery/...",
		"budgets    FAILED, 1 problem", "    dag/budget.txt: it is missing",
		"licences   ok",
		"vulnerabilities FAILED, 1 problem",
		"docs       FAILED", "    README.md: it is missing", "    dag/doc.go: it has no package comment",
		"tidy       FAILED, 1 problem", "    status: go mod tidy",
		"generated  FAILED, 1 problem", "    tools/peers/dag/made.txt: a generator changes it",
		"rules      FAILED, 1 problem, 0 of 1", "    dag/RULES.md:1: dag 1: no passed test", "    note: the tests of these modules have not run yet: dag, status, tools/peers/dag",
	}, nil)
	got.lastLine(t, "CHECKS passed=2 failed=13: modules large format snippets testnames lint arrows budgets vulnerabilities docs tidy generated rules")
}

func TestAllEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, r.Root, []string{"all"}, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "context canceled") {
		t.Errorf("exit code %d, printed %q", code, &stderr)
	}
}

func TestGenerateAndFormat(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"tools/peers/dag"}, repotest.Files{
		"tools/peers/dag/peer.go": "package   peer\n\n//go:generate sh -c \"echo new >made.txt\"\n",
	})
	repotest.Git(t, r.Root)
	call(t, r.Root, "generate").want(t, 0, []string{"generate tools/peers/dag\n"}, nil)
	if text, err := os.ReadFile(filepath.Join(r.Root, "tools/peers/dag/made.txt")); err != nil || string(text) != "new\n" {
		t.Errorf("generated %q, %v", text, err)
	}
	call(t, r.Root, "format").want(t, 1, []string{"peer.go: not formatted"}, nil)
	call(t, r.Root, "format", "-w").want(t, 0, []string{"format     ok"}, nil)
	call(t, r.Root, "format").want(t, 0, []string{"format     ok"}, nil)
}

func TestFuzzCommand(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		"dag/dag_test.go": "package dag\n\nimport \"testing\"\n\nfunc FuzzBad(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(t *testing.T, n int) { t.Error(\"found\") })\n}\n",
	})
	call(t, r.Root, "fuzz", "-time", "1m").want(t, 1, []string{"FuzzBad for 1m0s"}, []string{"check fuzz: " + repository.Prefix + "/dag FuzzBad"})
	call(t, r.Root, "fuzz", "-module", "dog").want(t, 1, nil, []string{`module "dog"`})
}
