package watches_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

// set returns an environment.
func set(variables map[string]string) watches.Lookup {
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

// testdata returns the absolute path of a file of the tests.
func testdata(t testing.TB, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{"testdata"}, parts...)...))
	require.NoError(t, err)
	return path
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	entries, err := watches.ReadFile("testdata/watches.yaml", set(nil))
	require.NoError(t, err)
	require.Len(t, entries, 2)
	want := &watches.Entry{
		Kind:   schema.GroupVersionKind{Group: "cache.example.com", Version: "v1alpha1", Kind: "Memcached"},
		Source: watches.Source{Playbook: testdata(t, "playbook.yml")},
		Roles:  testdata(t, "roles"),
		Vars: map[string]any{
			"size": int64(3), "colors": []any{"red", "blue"}, "nested": map[string]any{"big": int64(9007199254740993)},
		},
		Finalizer: &watches.Finalizer{
			Name: "cache.example.com/finalizer", Source: watches.Source{Role: testdata(t, "roles", "teardown")},
			Vars: map[string]any{"state": "absent"},
		},
		ReconcilePeriod:             90 * time.Second,
		WatchClusterScopedResources: true,
		WatchAnnotationsChanges:     true,
		Selector: metav1.LabelSelector{
			MatchLabels:      map[string]string{"tier": "gold"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "zone", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}},
		},
		Blacklist:          []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}},
		MaxRunnerArtifacts: 5,
		ServiceAccount:     &watches.ServiceAccount{Name: "memcached-runs", Namespace: "operators"},
		Manages:            []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}, {Group: "apps", Version: "v1", Kind: "Deployment"}},
	}
	t.Run("hooks 60: every field of an entry is read", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, want, entries[0])
		assert.Equal(t, want.Finalizer.Source, want.SourceOf(true))
		assert.Equal(t, want.Source, want.SourceOf(false))
	})
	t.Run("hooks 60: the defaults are those of the Ansible operator, but for markUnsafe", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, &watches.Entry{
			Kind:                    schema.GroupVersionKind{Group: "db.example.com", Version: "v1", Kind: "Database"},
			Source:                  watches.Source{Role: testdata(t, "roles", "database")},
			Roles:                   testdata(t, "roles"),
			ManageStatus:            true,
			WatchDependentResources: true,
			SnakeCaseParameters:     true,
			MarkUnsafe:              true,
			MaxRunnerArtifacts:      20,
		}, entries[1])
		assert.Equal(t, entries[1].Source, entries[1].SourceOf(true), "without a finalizer's own source it is that of the entry")
	})
	t.Run("hooks 60: a value that differs from its default is in the test", func(t *testing.T) {
		t.Parallel()
		first, second := reflect.ValueOf(*entries[0]), reflect.ValueOf(*entries[1])
		for i := range first.NumField() {
			if first.Type().Field(i).Name == "Roles" { // it isn't read, and the same for all
				continue
			}
			assert.False(t, reflect.DeepEqual(first.Field(i).Interface(), second.Field(i).Interface()), first.Type().Field(i).Name)
		}
	})
}

// head is the begin of an entry without mistakes.
const head = "- {group: a.example.com, version: v1, kind: A, playbook: playbook.yml"

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, text string
		want         []string
	}{
		{"an empty file", "", []string{"no entries"}},
		{"nothing but comments", "---\n# later\n", []string{"no entries"}},
		{"no entry", "[]", []string{"no entries"}},
		{"one entry without a list", "group: a", []string{"not a list"}},
		{"more than one document", head + "}\n---\n" + head + "}", []string{"more than one document"}},
		{"no YAML", "- {", []string{"yaml"}},
		{"an entry that is a text", "- a", []string{"entry 1: <nil>: Invalid value", "must be an object"}},
		{"a field that is spelled wrongly", head + ", managestatus: true}", []string{"entry 1 (A): managestatus: Invalid value", "unknown field: use one of blacklist, "}},
		{"an unknown field of the finalizer", head + ", finalizer: {name: a/b, vars: {a: b}, after: c}}", []string{"entry 1 (A): finalizer.after: Invalid value"}},
		{"an unknown field of the selector", head + ", selector: {labels: {}}}", []string{"entry 1 (A): selector: Invalid value", `unknown field "labels"`}},
		{"the same field twice", head + ", kind: A}", []string{`key "kind" already set`}},
		{"all of them at once", "- {group: A_, version: 1, playbook: none.yml, manageStatus: x, maxRunnerArtifacts: 1.5, manages: 3, vars: a, reconcilePeriod: long}", []string{
			"entry 1: group: Invalid value", "entry 1: version: Invalid value", "entry 1: kind: Required value", "entry 1: playbook: Invalid value",
			"entry 1: manageStatus: Invalid value: \"x\": must be true or false", "entry 1: maxRunnerArtifacts: Invalid value: \"1.5\": must be a whole number",
			"entry 1: manages: Invalid value: \"3\": must be a list", "entry 1: vars: Invalid value: \"a\": must be an object", "entry 1: reconcilePeriod: Invalid value: \"long\": must be a time",
		}},
		{"no version and no kind", "- {playbook: playbook.yml}", []string{"entry 1: version: Required value", "entry 1: kind: Required value"}},
		{"a version with its group", "- {group: a, version: a/v1, kind: A, playbook: playbook.yml}", []string{"entry 1 (A): version: Invalid value"}},
		{"a resource in the place of a kind", "- {group: a, version: v1, kind: apps/A, playbook: playbook.yml}", []string{"kind: Invalid value"}},
		{"neither playbook nor role", "- {group: a, version: v1, kind: A}", []string{"entry 1 (A): playbook: Required value"}},
		{"playbook and role", head + ", role: database}", []string{"entry 1 (A): role: Forbidden"}},
		{"a playbook that isn't there", "- {group: a, version: v1, kind: A, playbook: none.yml}", []string{`playbook: Invalid value: "none.yml": no such file`}},
		{"a playbook that is a folder", "- {group: a, version: v1, kind: A, playbook: roles}", []string{"playbook: Invalid value", "is a folder"}},
		{"a role that isn't there", "- {group: a, version: v1, kind: A, role: none}", []string{`role: Invalid value: "none": no such role`, "/roles/none"}},
		{"a role that is a file", "- {group: a, version: v1, kind: A, role: playbook.yml}", []string{"role: Invalid value"}},
		{"a finalizer without a name", head + ", finalizer: {vars: {a: b}}}", []string{"finalizer.name: Required value"}},
		{"a finalizer whose name isn't qualified", head + ", finalizer: {name: a/b/c, vars: {a: b}}}", []string{"finalizer.name: Invalid value"}},
		{"a finalizer that does nothing else", head + ", finalizer: {name: a/b}}", []string{"finalizer.playbook: Required value"}},
		{"a finalizer with playbook and role", head + ", finalizer: {name: a/b, playbook: playbook.yml, role: database}}", []string{"finalizer.role: Forbidden"}},
		{"a finalizer whose playbook isn't there, although it has vars", head + ", finalizer: {name: a/b, playbook: none.yml, vars: {a: b}}}", []string{"finalizer.playbook: Invalid value"}},
		{"a negative period", head + ", reconcilePeriod: -1s}", []string{"reconcilePeriod: Invalid value"}},
		{"a selector that is none", head + ", selector: {matchExpressions: [{key: a, operator: Has}]}}", []string{"selector: Invalid value"}},
		{"a kind to ignore without its version", head + ", blacklist: [{kind: B}]}", []string{"blacklist[0].version: Required value"}},
		{"an account without a name", head + ", serviceAccount: {namespace: b}}", []string{"serviceAccount.name: Required value"}},
		{"an account whose name is none", head + ", serviceAccount: {name: 'a:b', namespace: 'B'}}", []string{"serviceAccount.name: Invalid value", "serviceAccount.namespace: Invalid value"}},
		{"kinds to write without an account", head + ", manages: [{apiVersion: v1, kind: Pod}]}", []string{"manages: Forbidden"}},
		{"a kind to write without its version", head + ", serviceAccount: {name: a}, manages: [{kind: Pod}, {apiVersion: a/b/c, kind: B}, {apiVersion: v1}]}", []string{
			"manages[0].apiVersion: Required value", "manages[1].apiVersion: Invalid value", "manages[2].kind: Required value",
		}},
		{"a kind to write, twice", head + ", serviceAccount: {name: a}, manages: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Pod}]}", []string{"manages[1]: Duplicate value"}},
		{"two entries for a kind, in other versions", head + "}\n- {group: a.example.com, version: v2, kind: A, role: database}", []string{"entry 2 (A): kind: Duplicate value: entry 1 has it already"}},
	} {
		t.Run("hooks 61: "+row.reason, func(t *testing.T) {
			t.Parallel()
			entries, err := watches.Read([]byte(row.text), testdata(t), set(nil))
			require.Error(t, err)
			assert.Empty(t, entries)
			for _, want := range row.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
	t.Run("hooks 61: with the file", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "watches.yaml")
		require.NoError(t, os.WriteFile(file, []byte(head+", a: b, c: d}"), 0o600))
		_, err := watches.ReadFile(file, set(nil))
		require.Error(t, err)
		for _, want := range []string{"a: Invalid", "c: Invalid", "playbook: Invalid"} {
			assert.ErrorContains(t, err, file+": entry 1 (A): "+want)
		}
		_, err = watches.ReadFile(file+".missing", set(nil))
		assert.ErrorContains(t, err, "no such file")
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	variables := map[string]string{"ANSIBLE_ROLES_PATH": testdata(t, "more"), "ANSIBLE_COLLECTIONS_PATH": "/nowhere:" + testdata(t, "collections")}
	home := t.TempDir()
	mine := filepath.Join(home, ".ansible", "collections", "ansible_collections", "example", "mine", "roles", "web")
	require.NoError(t, os.MkdirAll(mine, 0o700))
	for _, row := range []struct {
		reason, role string
		variables    map[string]string
		want         string
	}{
		{"in the folder roles beside the file", "database", nil, testdata(t, "roles", "database")},
		{"relative to the file", "roles/database", nil, testdata(t, "roles", "database")},
		{"an absolute path", testdata(t, "more", "roles", "cache"), nil, testdata(t, "more", "roles", "cache")},
		{"in the roles of a folder of ANSIBLE_ROLES_PATH", "cache", variables, testdata(t, "more", "roles", "cache")},
		{"in a folder of ANSIBLE_ROLES_PATH", "roles/cache", variables, testdata(t, "more", "roles", "cache")},
		{"in a collection of ANSIBLE_COLLECTIONS_PATH", "example.kit.queue", variables, testdata(t, "collections", "ansible_collections", "example", "kit", "roles", "queue")},
		{"in a collection of the user", "example.mine.web", map[string]string{"HOME": home}, mine},
		{"that of ANSIBLE_ROLES_PATH, relative to the working folder, before that of the file", "database", map[string]string{"ANSIBLE_ROLES_PATH": "/nowhere::testdata/first"}, testdata(t, "first", "database")},
	} {
		t.Run("hooks 62: "+row.reason, func(t *testing.T) {
			t.Parallel()
			entries, err := watches.Read([]byte("- {group: a, version: v1, kind: A, role: "+row.role+"}"), testdata(t), set(row.variables))
			require.NoError(t, err)
			assert.Equal(t, watches.Source{Role: row.want}, entries[0].Source)
			assert.Equal(t, row.want, entries[0].Path())
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	variables := set(map[string]string{"VERSION": "v2", "LABEL": "tier", "N": "7", "EMPTY": ""})
	entries, err := watches.Read([]byte(`
- version: ${VERSION}
  group: a.example.com
  kind: A
  playbook: playbook.yml
  maxRunnerArtifacts: $N
  selector: {matchLabels: {"${LABEL}": "x${EMPTY}"}}
  vars: {unset: "${NOBODY} $NOBODY", other: "$$ $1 ${} ${a b} cost: 5$", nested: "${${LABEL}}"}
`), testdata(t), variables)
	require.NoError(t, err)
	t.Run("hooks 63: references to variables of the environment are replaced", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, "v2", entries[0].Kind.Version)
		assert.Equal(t, 7, entries[0].MaxRunnerArtifacts)
		assert.Equal(t, map[string]string{"tier": "x"}, entries[0].Selector.MatchLabels)
	})
	t.Run("hooks 63: what is no reference to a variable that is set stays", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, map[string]any{"unset": "${NOBODY} $NOBODY", "other": "$$ $1 ${} ${a b} cost: 5$", "nested": "${tier}"}, entries[0].Vars)
	})
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	kind := schema.GroupVersionKind{Group: "db.example.com", Version: "v1", Kind: "MongoDB"}
	for _, row := range []struct {
		reason    string
		variables map[string]string
		kind      schema.GroupVersionKind
		workers   int
		verbosity int
		err       string
	}{
		{"nothing is set", nil, kind, 4, 2, ""},
		{"of another kind", map[string]string{"WORKER_POSTGRES_DB_EXAMPLE_COM": "9", "WORKER_MONGODB": "9"}, kind, 4, 2, ""},
		{"the old name", map[string]string{"WORKER_MONGODB_DB_EXAMPLE_COM": "9"}, kind, 9, 2, ""},
		{"the new name", map[string]string{"MAX_CONCURRENT_RECONCILES_MONGODB_DB_EXAMPLE_COM": "8"}, kind, 8, 2, ""},
		{"the new name wins", map[string]string{"WORKER_MONGODB_DB_EXAMPLE_COM": "9", "MAX_CONCURRENT_RECONCILES_MONGODB_DB_EXAMPLE_COM": "8"}, kind, 8, 2, ""},
		{"the core group", map[string]string{"WORKER_POD_": "3"}, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, 3, 2, ""},
		{"verbosity", map[string]string{"ANSIBLE_VERBOSITY_MONGODB_DB_EXAMPLE_COM": "0"}, kind, 4, 0, ""},
		{"no number", map[string]string{"WORKER_MONGODB_DB_EXAMPLE_COM": "many"}, kind, 0, 2, `environment variable WORKER_MONGODB_DB_EXAMPLE_COM: "many": must be a number from 1 to 65536`},
		{"an empty text", map[string]string{"WORKER_MONGODB_DB_EXAMPLE_COM": ""}, kind, 0, 2, "must be a number"},
		{"zero", map[string]string{"WORKER_MONGODB_DB_EXAMPLE_COM": "0"}, kind, 0, 2, "must be a number"},
		{"too large", map[string]string{"WORKER_MONGODB_DB_EXAMPLE_COM": "99999999999999999999"}, kind, 0, 2, "must be a number"},
		{"a verbosity that isn't there", map[string]string{"ANSIBLE_VERBOSITY_MONGODB_DB_EXAMPLE_COM": "8"}, kind, 4, 0, "must be a number from 0 to 7"},
	} {
		t.Run("hooks 64: "+row.reason, func(t *testing.T) {
			t.Parallel()
			workers, err := watches.Workers(row.kind, 4, set(row.variables))
			verbosity, err2 := watches.Verbosity(row.kind, 2, set(row.variables))
			assert.Equal(t, row.workers, workers)
			assert.Equal(t, row.verbosity, verbosity)
			if err == nil {
				err = err2
			}
			if row.err == "" {
				require.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, row.err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/watches.yaml")
	require.NoError(f, err)
	f.Add(string(text))
	f.Add(head + ", finalizer: null, vars: {a: ${B}}}")
	f.Add("- null\n- [a]\n- 3")
	dir := testdata(f)
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := watches.Read([]byte(text), dir, set(map[string]string{"B": "c"}))
		if err != nil {
			assert.Empty(t, entries)
			assert.NotEmpty(t, strings.TrimSpace(err.Error()))
			return
		}
		assert.NotEmpty(t, entries)
		for _, e := range entries {
			assert.True(t, filepath.IsAbs(e.Path()), e.Path())
			assert.NotEqual(t, e.Playbook == "", e.Role == "")
			assert.NotZero(t, e.MaxRunnerArtifacts)
		}
	})
}
