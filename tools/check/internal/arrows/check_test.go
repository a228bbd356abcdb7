package arrows

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

// imports holds what packages import, by their folder below the root; a folder that ends in _test is that of a package
// whose tests import it.
type imports map[string][]string

// arrangement is a repository of packages that import each other and libraries.
type arrangement struct {
	reason    string
	packages  imports
	libraries map[string][]string
	want      []string
}

// expand returns the import path that a short form stands for: "./dag" is a package of the repository.
func expand(paths []string) []string {
	full := make([]string, 0, len(paths))
	for _, p := range paths {
		full = append(full, absolute(p))
	}
	return full
}

func (a arrangement) repository(t *testing.T) *repository.Repository {
	t.Helper()
	files, modules := repotest.Files{}, map[string]bool{}
	for folder, paths := range a.packages {
		folder, test := strings.CutSuffix(folder, "_test")
		modules[moduleOf(folder)] = true
		files[folder+"/package.go"] = max(files[folder+"/package.go"], "package "+path.Base(folder)+"\n")
		if test {
			files[folder+"/package_test.go"] = repotest.Package(path.Base(folder)+"_test", expand(paths)...)
		} else {
			files[folder+"/package.go"] = repotest.Package(path.Base(folder), expand(paths)...)
		}
	}
	return repotest.NewWithLibraries(t, slices.Sorted(maps.Keys(modules)), files, a.libraries)
}

func moduleOf(folder string) string {
	elements := strings.Split(folder, "/")
	switch {
	case elements[0] != "tools":
		return elements[0]
	case elements[1] == "peers":
		return strings.Join(elements[:3], "/")
	}
	return strings.Join(elements[:2], "/")
}

var stubs = map[string][]string{
	"golang.org/x/sync errgroup":                 nil,
	"k8s.io/apimachinery pkg/runtime":            nil,
	"k8s.io/apimachinery pkg/jsonmergepatch":     {"gopkg.in/evanphx/json-patch.v4"},
	"k8s.io/api core/v1":                         {"k8s.io/apimachinery/pkg/runtime"},
	"k8s.io/client-go kubernetes":                {"k8s.io/api/core/v1"},
	"k8s.io/apiserver pkg/server":                nil,
	"sigs.k8s.io/yaml":                           nil,
	"sigs.k8s.io/controller-runtime pkg/manager": {"k8s.io/client-go/kubernetes"},
	"github.com/stretchr/testify require":        nil,
	"cel.dev/cel-go cel":                         nil,
	"github.com/go-git/go-git/v5":                nil,
	"github.com/spf13/cobra":                     nil,
	"github.com/fluxcd/pkg/ssa":                  nil,
	"gopkg.in/evanphx/json-patch.v4":             nil,
	"example.test/embedded":                      {"k8s.io/apiserver/pkg/server"},
	"example.test/helper":                        {"sigs.k8s.io/controller-runtime/pkg/manager"},
	"example.test/tracker":                       {"k8s.io/client-go/kubernetes"},
}

const prefix = repository.Prefix + "/"

// allowed is a repository in order: every arrow that the design draws, and everything that a wrong import is near to.
var allowed = arrangement{
	packages: imports{
		"dag":                      {"context", "golang.org/x/sync/errgroup", "./dag/internal/walk"},
		"dag/internal/walk":        nil,
		"dag_test":                 {"github.com/stretchr/testify/require"},
		"smp":                      {"k8s.io/apimachinery/pkg/jsonmergepatch", "sigs.k8s.io/yaml"},
		"status":                   {"k8s.io/apimachinery/pkg/runtime"},
		"vcs":                      {"github.com/go-git/go-git/v5"},
		"vcs/setupcommand":         {"./vcs", "github.com/spf13/cobra"},
		"deploy":                   {"k8s.io/client-go/kubernetes", "k8s.io/api/core/v1"},
		"deploy_test":              {"./tools/envtest"},
		"reconcile":                {"./dag", "./smp", "./status", "./deploy", "./reconcile/request"},
		"reconcile/request":        {"k8s.io/apimachinery/pkg/runtime"},
		"reconcile/watch":          {"./reconcile/request", "./deploy"},
		"reconcile/celready":       {"cel.dev/cel-go/cel", "./status"},
		"operator":                 {"./reconcile", "./reconcile/watch", "example.test/tracker"},
		"operator/full":            {"./operator", "./vcs", "./vcs/setupcommand"},
		"examples/guestbook":       {"./operator"},
		"examples/guestbook_test":  {"./tools/envtest"},
		"examples/guestbook/demo":  {"./examples/guestbook", "./tools/envtest"},
		"tools/envtest":            {"k8s.io/client-go/kubernetes"},
		"tools/devcluster":         {"k8s.io/apiserver/pkg/server"},
		"tools/bench":              {"sigs.k8s.io/controller-runtime/pkg/manager"},
		"tools/peers/deploy":       {"github.com/fluxcd/pkg/ssa", "gopkg.in/evanphx/json-patch.v4"},
		"tools/integration_test":   {"./deploy", "./status", "github.com/stretchr/testify/require"},
		"tools/integration/helper": {"./deploy", "./status"},
		"tools/setup-vcs":          {"./vcs/setupcommand"},
	},
	libraries: stubs,
}

func TestAllowedImports(t *testing.T) {
	t.Parallel()
	report, err := Check(t.Context(), allowed.repository(t), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 {
		t.Errorf("problems in a repository in order:\n%s", strings.Join(report.Problems, "\n"))
	}
}

// TestWrongImports adds one wrong import after another to the repository in order.
func TestWrongImports(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason   string
		packages imports
		want     []string // the chain in short form, without the reason
	}{
		{"a ground room imports another", imports{"dag": {"./status"}}, []string{"./dag -> ./status"}},
		{"so does a package inside it", imports{"dag/internal/walk": {"./smp"}}, []string{"./dag/internal/walk -> ./smp"}},
		{"so does its test", imports{"deploy_test": {"./status"}}, []string{"./deploy (test) -> ./status"}},
		{"dag takes more than the standard library and x/sync", imports{"dag": {"k8s.io/apimachinery/pkg/runtime"}}, []string{"./dag -> k8s.io/apimachinery/pkg/runtime"}},
		{"smp imports a client", imports{"smp": {"k8s.io/client-go/kubernetes"}}, []string{"./smp -> k8s.io/client-go/kubernetes"}},
		{
			"status links k8s.io/api through a library, which is not on its list either", imports{"status": {"example.test/tracker"}},
			[]string{"./status -> example.test/tracker -> k8s.io/client-go/kubernetes", "./status -> example.test/tracker"},
		},
		{"status imports k8s.io/api", imports{"status": {"k8s.io/api/core/v1"}}, []string{"./status -> k8s.io/api/core/v1"}},
		{"vcs imports Kubernetes in a test", imports{"vcs_test": {"k8s.io/apimachinery/pkg/runtime"}}, []string{"./vcs (test) -> k8s.io/apimachinery/pkg/runtime"}},
		{"vcs imports what commands are made of", imports{"vcs": {"github.com/spf13/cobra"}}, []string{"./vcs -> github.com/spf13/cobra"}},
		{"vcs imports its command", imports{"vcs/internal/ask": {"./vcs/setupcommand"}}, []string{"./vcs/internal/ask -> ./vcs/setupcommand"}},
		{"the command of vcs imports another room", imports{"vcs/setupcommand": {"./dag"}}, []string{"./vcs/setupcommand -> ./dag"}},
		{"operator/full imports a tool", imports{"operator/full": {"./tools/setup-vcs"}, "tools/setup-vcs": nil}, []string{"./operator/full -> ./tools/setup-vcs"}},
		{"deploy imports reconcile, its upper room", imports{"deploy": {"./reconcile/request"}}, []string{"./deploy -> ./reconcile/request"}},
		{
			"reconcile imports vcs, which reaches the lean core by that", imports{"reconcile": {"./vcs"}},
			[]string{"./operator -> ./reconcile -> ./vcs", "./reconcile -> ./vcs"},
		},
		{"reconcile's test imports operator", imports{"reconcile_test": {"./operator"}}, []string{"./reconcile (test) -> ./operator"}},
		{"cel-go outside of celready", imports{"reconcile": {"cel.dev/cel-go/cel"}}, []string{"./reconcile -> cel.dev/cel-go/cel"}},
		{
			"cel-go through celready", imports{"reconcile/watch": {"./reconcile/celready"}},
			[]string{"./reconcile/watch -> ./reconcile/celready -> cel.dev/cel-go/cel"},
		},
		{"the engine imports the sessions", imports{"reconcile/watch": {"./reconcile"}}, []string{"./reconcile/watch -> ./reconcile"}},
		{
			"requests reach the engine through another package",
			imports{"reconcile/request": {"./reconcile/internal/key"}, "reconcile/internal/key": {"./reconcile/watch"}, "reconcile/watch": nil},
			[]string{"./reconcile/request -> ./reconcile/internal/key -> ./reconcile/watch"},
		},
		{"the lean core imports vcs", imports{"operator": {"./vcs"}}, []string{"./operator -> ./vcs"}},
		{"operator imports an example", imports{"operator/full": {"./examples/shared"}, "examples/shared": nil}, []string{"./operator/full -> ./examples/shared"}},
		{"a library imports a tool", imports{"operator": {"./tools/envtest"}}, []string{"./operator -> ./tools/envtest"}},
		{"an example imports a tool", imports{"examples/guestbook": {"./tools/envtest"}}, []string{"./examples/guestbook -> ./tools/envtest"}},
		{"testify outside of tests", imports{"tools/integration/helper": {"github.com/stretchr/testify/require"}}, []string{"./tools/integration/helper -> github.com/stretchr/testify/require"}},
		{
			"a peer, through a helper of a test", imports{"examples/guestbook_test": {"example.test/helper"}},
			[]string{"./examples/guestbook (test) -> example.test/helper -> sigs.k8s.io/controller-runtime/pkg/manager"},
		},
		{
			"a peer, in a module outside of the workspace", imports{"tools/devcluster": {"github.com/fluxcd/pkg/ssa"}},
			[]string{"./tools/devcluster -> github.com/fluxcd/pkg/ssa"},
		},
		{"a peer that apimachinery links too, imported directly", imports{"tools/integration_test": {"gopkg.in/evanphx/json-patch.v4"}}, []string{"./tools/integration (test) -> gopkg.in/evanphx/json-patch.v4"}},
		{
			"envtest links a server of Kubernetes", imports{"tools/envtest": {"example.test/embedded"}},
			[]string{"./tools/envtest -> example.test/embedded -> k8s.io/apiserver/pkg/server"},
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			wrong := arrangement{packages: maps.Clone(allowed.packages), libraries: stubs}
			maps.Copy(wrong.packages, row.packages)
			report, err := Check(t.Context(), wrong.repository(t), repository.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var chains []string
			for _, problem := range report.Problems {
				chain, reason, _ := strings.Cut(problem, ": ")
				if reason == "" {
					t.Errorf("%s: no reason", problem)
				}
				chains = append(chains, strings.ReplaceAll(chain, prefix, "./"))
			}
			if !slices.Equal(chains, row.want) {
				t.Errorf("chains %q, want %q\n%s", chains, row.want, strings.Join(report.Problems, "\n"))
			}
		})
	}
}

func TestOtherProblems(t *testing.T) {
	t.Parallel()
	for _, row := range []arrangement{
		{
			reason:   "a module that the table does not know",
			packages: imports{"widgets": nil, "dag": nil},
			want:     []string{"widgets: the design's table has no row for this module"},
		},
		{
			reason:   "a package that cannot be loaded",
			packages: imports{"dag": {"nowhere.test/x"}},
			want:     []string{prefix + "dag -> nowhere.test/x: dag may import only its own packages, the standard library, golang.org/x/sync/...", "nowhere.test/x: "},
		},
		{reason: "nothing is there yet", packages: imports{}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			report, err := Check(t.Context(), row.repository(t), repository.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(report.Problems, row.want, strings.HasPrefix) {
				t.Errorf("problems %q, want %q", report.Problems, row.want)
			}
		})
	}
}

func TestCheckOfBrokenWorkspace(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/dag.go": "package dag\n", "go.work": "go 1.26.0\nuse ./nowhere\n"})
	if _, err := Check(t.Context(), r, repository.Options{}); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error %v, want the one of the go command", err)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		path, pattern string
		want          bool
	}{
		{"k8s.io/api", "k8s.io/api/...", true},
		{"k8s.io/api/core/v1", "k8s.io/api/...", true},
		{"k8s.io/apimachinery", "k8s.io/api/...", false},
		{"k8s.io/api/core/v1", "k8s.io/api", false},
		{prefix + "reconcile", "./reconcile", true},
		{prefix + "reconcile/watch", "./reconcile", false},
		{prefix + "dag", "./...", true},
		{prefix + "examples/guestbook/demo", "./examples/*/demo/...", true},
		{prefix + "examples/guestbook", "./examples/*/demo/...", false},
		{prefix + "examples", "./examples/*/demo/...", false},
	} {
		if got := matches(row.path, []string{"none", row.pattern}); got != row.want {
			t.Errorf("%s and %s: %v, want %v", row.path, row.pattern, got, row.want)
		}
	}
}
