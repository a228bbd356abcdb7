package manifest_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/manifest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const role = `# What the operator may do.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: x
rules:
  - apiGroups: [""]
    resources: [secrets, services]
    # a comment
    verbs: [get]
`

// rules are those of a role, as far as they are read back here.
func rules(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var document struct {
		Rules []map[string]any `json:"rules"`
	}
	require.NoError(t, yaml.Unmarshal(text, &document))
	return document.Rules
}

func TestAddRules(t *testing.T) {
	t.Parallel()
	backups := manifest.ControllerRules("example.com", "backups")
	services, configMaps := manifest.ObjectRule("", "services"), manifest.ObjectRule("", "configmaps")
	for _, row := range []struct {
		reason, before string
		rules          []manifest.Rule
		added          int
		want           string
	}{
		{"a kind", role, backups, 3, "rules:\n  - apiGroups: [example.com]\n    resources: [backups]\n    # patch: the finalizer\n    verbs: [get, list, watch, patch]\n  - apiGroups: [example.com]\n    resources: [backups/status]\n    verbs: [patch]\n"},
		{"the core group", role, []manifest.Rule{configMaps}, 1, "  - apiGroups: [\"\"]\n    resources: [configmaps]\n"},
		{"what is there isn't added", role, []manifest.Rule{services, configMaps}, 1, "resources: [configmaps]"},
		{"nothing is left to add", role, []manifest.Rule{services}, 0, ""},
		{"everything is allowed already", strings.Replace(role, `[""]`, `["*"]`, 1), []manifest.Rule{services}, 0, ""},
		{"of one object only", strings.Replace(role, "    verbs", "    resourceNames: [one]\n    verbs", 1), []manifest.Rule{services}, 1, "resources: [services]"},
		{"another indentation", strings.ReplaceAll(strings.ReplaceAll(role, "\n  - ", "\n- "), "\n    ", "\n  "), backups, 3, "rules:\n- apiGroups: [example.com]\n  resources: [backups]\n"},
		{"a comment before the first", strings.Replace(role, "rules:\n", "rules:\n  # These.\n", 1), backups, 3, "rules:\n  - apiGroups: [example.com]"},
		{"a second document", role + "---\nkind: Role\n", backups, 3, "rules:\n  - apiGroups: [example.com]"},
	} {
		text, changed, err := manifest.AddRules([]byte(row.before), row.rules...)
		require.NoError(t, err, row.reason)
		assert.Equal(t, row.added > 0, changed, row.reason)
		assert.Contains(t, string(text), row.want, row.reason)
		before, after := rules(t, []byte(row.before)), rules(t, text)
		require.Len(t, after, len(before)+row.added, row.reason)
		assert.Equal(t, before, after[row.added:], row.reason)
		again, changed, err := manifest.AddRules(text, row.rules...)
		require.NoError(t, err, row.reason)
		assert.False(t, changed, row.reason)
		assert.Equal(t, string(text), string(again), row.reason)
	}
}

func TestNoPlaceForRules(t *testing.T) {
	t.Parallel()
	for reason, text := range map[string]string{
		"no YAML":              "rules: [",
		"no rules":             "kind: ClusterRole\n",
		"none in the list":     "kind: ClusterRole\nrules: []\n",
		"on one line":          `rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]` + "\n",
		"in a document behind": "kind: ServiceAccount\n---\n" + role,
		"not at the top":       "spec:\n  rules:\n    - a: b\n",
	} {
		_, _, err := manifest.AddRules([]byte(text), manifest.ObjectRule("", "configmaps"))
		assert.ErrorIs(t, err, manifest.ErrNoPlace, reason)
	}
}

// FuzzAddRules: whatever the role looks like, it is left alone, or has one rule more and all that it had.
func FuzzAddRules(f *testing.F) {
	f.Add(role)
	f.Add("rules:\n- a: b\n")
	f.Add("rules:\n\t- a: b\n")
	f.Add("x: |\n rules:\n  - a\nrules:\n  - {}\n")
	f.Fuzz(func(t *testing.T, before string) {
		text, changed, err := manifest.AddRules([]byte(before), manifest.ObjectRule("fuzzed.example.com", "things"))
		if err != nil {
			assert.ErrorIs(t, err, manifest.ErrNoPlace)
			return
		}
		if !changed {
			assert.Equal(t, before, string(text))
			return
		}
		assert.Equal(t, rules(t, []byte(before)), rules(t, text)[1:], "what was there is")
		_, changed, err = manifest.AddRules(text, manifest.ObjectRule("fuzzed.example.com", "things"))
		assert.NoError(t, err)
		assert.False(t, changed, "it is there now")
	})
}
