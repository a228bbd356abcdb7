package hygiene_test

import (
	"os/exec"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/hygiene"
	"github.com/operkit/operkit/tools/check/internal/repotest"
)

func TestClean(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/dag.go": "package dag\n", ".gitignore": "/.cache/\n"})
	if _, err := hygiene.Clean(t.Context(), r); err == nil {
		t.Error("outside of a git repository: no error")
	}
	repotest.Git(t, r.Root)
	for _, args := range [][]string{{"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@t.test", "commit", "--quiet", "-m", "all"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.Root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	problems, err := hygiene.Clean(t.Context(), r)
	want(t, problems, err)
	repotest.Write(t, r.Root, repotest.Files{
		"dag/dag.go": "package dag // changed\n", "dag/sub/new.go": "package sub\n", ".cache/left": "",
	})
	problems, err = hygiene.Clean(t.Context(), r)
	want(t, problems, err, []string{" M dag/dag.go"}, []string{"?? dag/sub/new.go"})
}

func TestTestNames(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status"}, repotest.Files{
		"dag/a_test.go":         "package dag\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\nfunc ExampleA() {}\nfunc TestMain(m *testing.M) {}\n",
		"dag/b_test.go":         "package dag_test\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\nfunc ExampleA() {}\nfunc Testify() {}\nfunc TestMain(m *testing.M) {}\n",
		"dag/c_test.go":         "package dag\n\nfunc Testify() {}\n",
		"dag/sub/a_test.go":     "package sub\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
		"status/a_test.go":      "package status\n\nimport \"testing\"\n\ntype x int\n\nfunc TestA(t *testing.T) {}\nfunc (x) TestA() {}\n",
		"status/broken_test.go": "package status\n\nfunc {\n",
	})
	repotest.Git(t, r.Root)
	problems, err := hygiene.TestNames(t.Context(), r)
	want(t, problems, err,
		[]string{"dag/b_test.go: TestA stands in a_test.go too"},
		[]string{"dag/b_test.go: ExampleA stands in a_test.go too"},
		[]string{"status/broken_test.go: cannot be parsed: ", ":3:6"})
}
