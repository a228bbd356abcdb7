package manifest

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const masked64 = "KG1hc2tlZCk="

func TestMask(t *testing.T) {
	t.Parallel()
	announced := base64.StdEncoding.EncodeToString([]byte(reconcile.GeneratedPlaceholder))
	for _, row := range []struct{ reason, given, want string }{
		{"keys stay, values are all the same", "kind: Secret\ndata: {long: aHVudGVyMmh1bnRlcjI=, empty: '', n: null}\nstringData: {c: x}", "kind: Secret\ndata: {long: " + masked64 + ", empty: " + masked64 + ", n: " + masked64 + "}\nstringData: {c: (masked)}"},
		{"everything else stays", "kind: Secret\ntype: kubernetes.io/tls\nimmutable: true\nmetadata: {name: a, labels: {b: c}}\ndata: {}", "kind: Secret\ntype: kubernetes.io/tls\nimmutable: true\nmetadata: {name: a, labels: {b: c}}\ndata: {}"},
		{"values that aren't text", "kind: Secret\nstringData: {a: 1, b: {c: d}, e: [f]}", "kind: Secret\nstringData: {a: (masked), b: (masked), e: (masked)}"},
		{"values that are no map", "kind: Secret\ndata: hunter2\nstringData: [hunter2]", "kind: Secret\ndata: (masked)\nstringData: (masked)"},
		{"no data", "kind: Secret\ndata: null", "kind: Secret\ndata: null"},
		{"a registry's, which has to be JSON", "kind: Secret\ntype: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: e30x}\nstringData: {.dockercfg: x}", "kind: Secret\ntype: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: e30=}\nstringData: {.dockercfg: '{}'}"},
		{"of whatever group", "apiVersion: example.com/v1\nkind: Secret\ndata: {a: b}", "apiVersion: example.com/v1\nkind: Secret\ndata: {a: " + masked64 + "}"},
		{"what kubectl remembers", "kind: Secret\nmetadata: {annotations: {a: b, kubectl.kubernetes.io/last-applied-configuration: hunter2}}", "kind: Secret\nmetadata: {annotations: {a: b}}"},
		{"a list", "kind: List\nitems: [{kind: Secret, data: {a: b}}, {kind: ConfigMap, data: {a: b}}, 1]", "kind: List\nitems: [{kind: Secret, data: {a: " + masked64 + "}}, {kind: ConfigMap, data: {a: b}}, 1]"},
		{"a list of Secrets, whose items needn't say so", "kind: SecretList\nitems: [{metadata: {name: x}, data: {a: b}}]", "kind: SecretList\nitems: [{metadata: {name: x}, data: {a: " + masked64 + "}}]"},
		{"a Secret with items of its own", "kind: Secret\nitems: []\ndata: {a: b}", "kind: Secret\nitems: []\ndata: {a: " + masked64 + "}"},
		{"a list without any", "kind: List\nitems: [{kind: ConfigMap, data: {a: b}}]", "kind: List\nitems: [{kind: ConfigMap, data: {a: b}}]"},
		{"what only announces a value", "kind: Secret\ndata: {a: " + announced + "}\nstringData: {b: " + reconcile.GeneratedPlaceholder + "}", "kind: Secret\ndata: {a: " + announced + "}\nstringData: {b: " + reconcile.GeneratedPlaceholder + "}"},
		{"no Secret", "kind: ConfigMap\ndata: {a: hunter2}", "kind: ConfigMap\ndata: {a: hunter2}"},
	} {
		t.Run("reconcile 17: "+row.reason, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(row.given, "apiVersion") {
				row.given, row.want = "apiVersion: v1\n"+row.given, "apiVersion: v1\n"+row.want
			}
			given, before := object(t, row.given), object(t, row.given)
			assert.Equal(t, object(t, row.want).Object, Mask(given).Object)
			assert.Equal(t, before, given, "what was given isn't changed")
			assert.Equal(t, row.given != row.want, masks(given))
		})
	}
}

// Whatever a Secret holds, nothing of it is left.
func FuzzMask(f *testing.F) {
	f.Add(`{"apiVersion": "v1", "kind": "Secret", "data": {"a": "hunter2"}, "stringData": ["hunter2"]}`)
	f.Add(`{"apiVersion": "v1", "kind": "List", "items": [{"kind": "Secret", "data": {"a": {"b": "hunter2"}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var content map[string]any
		if json.Unmarshal([]byte(text), &content) != nil {
			return
		}
		masked, _ := mask(content, "")
		values, _ := masked["stringData"].(map[string]any)
		for key, value := range values {
			if masked["kind"] == "Secret" {
				require.Contains(t, []any{Masked, maskedJSON, reconcile.GeneratedPlaceholder}, value, key)
			}
		}
		again, _ := mask(masked, "")
		require.Equal(t, masked, again)
	})
}
