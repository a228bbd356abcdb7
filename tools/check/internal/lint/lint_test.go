package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/repotest"
)

const removing = "// Package dag holds nothing.\npackage dag\n\nimport \"os\"\n\n// Clear clears.\nfunc Clear() {\n\tos.Remove(\"x\")\n}\n"

func TestLint(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	long := "// Package smp is long.\npackage smp\n\n// Long is long.\nfunc Long() (n int) {\n" + strings.Repeat("\tn++\n", 70) + "\treturn n\n}\n"
	own, err := os.ReadFile("../../../devcluster/.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	r := repotest.New(t, []string{"dag", "smp", "status", "tools/devcluster", "tools/peers/dag"}, repotest.WithTools(t, repotest.Files{
		"dag/dag.go":                     removing,
		"smp/smp.go":                     long,
		"status/status.go":               "// Package status is well.\npackage status\n",
		"tools/peers/dag/peer.go":        strings.ReplaceAll(removing, "dag", "peer"),
		"tools/devcluster/.golangci.yml": string(own),
		"tools/devcluster/main.go":       "// Command devcluster is vetted here alone.\npackage main\n\nfunc main() {\n\tx := 1\n\tx = x\n\t_ = x\n}\n",
	}))
	report, err := Lint(t.Context(), r, false)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "problems", report.Problems, "dag/dag.go:8:11: Error return value of `os.Remove` is not checked (errcheck)",
		"tools/peers/dag/peer.go:8:11: Error return value of `os.Remove` is not checked (errcheck)",
		"tools/devcluster/main.go:6:2: assign: self-assignment of x (govet)")
	is(t, "notes", report.Notes, "smp/smp.go:5:6: Function 'Long' has too many statements (71 > 40) (funlen)")
	left, err := filepath.Glob(filepath.Join(temporary, "operkit-lint-*"))
	if err != nil {
		t.Fatal(err)
	}
	is(t, "folders left behind", left)
}

func TestLintWithoutItsTools(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/dag.go": removing})
	if _, err := Lint(t.Context(), r, false); err == nil || !strings.HasPrefix(err.Error(), Folder+": ") {
		t.Errorf("error %v doesn't name %s", err, Folder)
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status", "tools/bench", "tools/devcluster", "tools/lint"}, repotest.Files{
		"dag/dag.go": removing, "status/status.go": "package status\n", "go.work.sum": "of the workspace\n",
		"tools/bench/main.go": "package main\n", "tools/devcluster/main.go": "package main\n",
	})
	all, err := groups(t.Context(), r, true, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var workspace string
	for _, group := range all {
		got = append(got, group.Subject+": "+strings.Join(group.Patterns, " "))
		for _, variable := range group.Environ {
			if file, ok := strings.CutPrefix(variable, "GOWORK="); ok && file != "off" {
				workspace = file
			}
		}
		race := slices.ContainsFunc(group.Environ, func(v string) bool { return strings.HasPrefix(v, "GOFLAGS=") && strings.Contains(v, "-race") })
		if alone := group.Subject == "tools/devcluster"; race == alone {
			t.Errorf("%s: race detector %v: the control plane is never compiled for it", group.Subject, race)
		}
	}
	is(t, "groups", got, "all modules at once: ./dag/... ./status/... ./tools/bench/...", "tools/devcluster: ./...")
	sums, err := os.ReadFile(workspace + ".sum")
	if err != nil {
		t.Fatal(err)
	}
	is(t, "sums", []string{string(sums)}, "of the workspace\n")
}

func TestModulesThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status"}, repotest.Files{"dag/dag.go": removing, "status/status.go": "package status\n"})
	repotest.Write(t, r.Root, repotest.Files{"status/go.mod": "module github.com/operkit/operkit/status\n\nrequires x\n"})
	_, err := groups(t.Context(), r, false, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "a workspace of all modules") || !strings.Contains(err.Error(), "unknown directive: requires") {
		t.Errorf("error %v doesn't say what was tried and why it isn't possible", err)
	}
}

func TestVulnerabilities(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status"}, repotest.WithTools(t, repotest.Files{
		"dag/dag.go":       removing,
		"status/status.go": "// Package status reaches nothing.\npackage status\n",
	}))
	database := t.TempDir()
	repotest.Write(t, database, repotest.Files{
		"index/db.json":      `{"modified":"2026-01-02T15:04:05Z"}`,
		"index/modules.json": `[{"path":"stdlib","vulns":[{"id":"GO-2026-0001","modified":"2026-01-02T15:04:05Z"}]}]`,
		"ID/GO-2026-0001.json": `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"2026-01-02T15:04:05Z","published":"2026-01-02T15:04:05Z",
			"details":"Files are removed.","affected":[{"package":{"name":"stdlib","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"os","symbols":["Remove"]}]}}],"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2026-0001"}}`,
	})
	report, err := vulnerabilities(t.Context(), r, "file://"+database)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "notes", report.Notes)
	if len(report.Problems) != 1 || !strings.HasPrefix(report.Problems[0], "dag: ") || !strings.Contains(report.Problems[0], "GO-2026-0001") || !strings.Contains(report.Problems[0], "dag.go:8:11") {
		t.Errorf("problems %q don't say that dag reaches GO-2026-0001", report.Problems)
	}
}

func TestVulnerabilitiesOfNoDatabase(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status"}, repotest.WithTools(t, repotest.Files{"dag/dag.go": removing, "status/status.go": "package status\n"}))
	report, err := vulnerabilities(t.Context(), r, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	is(t, "problems", report.Problems)
	if len(report.Notes) != 1 || !strings.HasPrefix(report.Notes[0], "the vulnerability database can't be read: ") {
		t.Errorf("notes %q, not one that nothing is known", report.Notes)
	}
}

func TestVulnerabilitiesOfWhatDoesNotCompile(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.WithTools(t, repotest.Files{"dag/dag.go": "package dag\n\nvar x = y\n"}))
	database := t.TempDir()
	repotest.Write(t, database, repotest.Files{"index/db.json": `{"modified":"2026-01-02T15:04:05Z"}`, "index/modules.json": `[]`})
	report, err := vulnerabilities(t.Context(), r, "file://"+database)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], "undefined: y") {
		t.Errorf("problems %q don't say what isn't defined", report.Problems)
	}
}

func is(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nnot:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
