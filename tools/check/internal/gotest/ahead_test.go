package gotest_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/repotest"
)

const patient = `package patient

import (
	"os/exec"
	"testing"
	"time"
)

func TestOtherIsCompiled(t *testing.T) {
	for range 600 {
		list := exec.Command("go", "list", "-f", "{{.Stale}}", ".")
		list.Dir = "../deploy"
		if out, err := list.CombinedOutput(); string(out) == "false\n" {
			return
		} else if err != nil {
			t.Fatal(string(out), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("nobody has compiled it")
}
`

// While the tests of a module wait, the next one is compiled.
func TestRunnerCompilesAhead(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "deploy"}, repotest.Files{
		"dag/patient_test.go": patient,
		"deploy/deploy.go":    fmt.Sprintf("// Package deploy is new to every build cache.\npackage deploy\n\nconst Now = %d\n", time.Now().UnixNano()),
		"deploy/good_test.go": "package deploy\n\nimport \"testing\"\n\nfunc TestNow(t *testing.T) { t.Log(Now) }\n",
	})
	var out, problems bytes.Buffer
	runner := gotest.Runner{Repository: r, Stdout: &out, Stderr: &problems}
	tally, err := runner.All(t.Context(), r.Modules)
	if want := (gotest.Tally{Passed: 2}); err != nil || tally != want {
		t.Errorf("counts %v, %v; want %v\n%s%s", tally, err, want, &out, &problems)
	}
}
