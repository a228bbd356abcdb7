package manifest_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/manifest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const deployment = `# One of several replicas works.
kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: operator
          ports:
            - name: metrics
              containerPort: 8080
            - name: health
              containerPort: 8081
          # Ready when the caches are filled.
          readinessProbe:
            httpGet:
              port: health
`

func TestAddPort(t *testing.T) {
	t.Parallel()
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(deployment) }
	const added = "            - name: webhooks\n              containerPort: 9443\n"
	for _, row := range []struct{ reason, before, want string }{
		{"after the others", deployment, "              containerPort: 8081\n" + added + "          # Ready"},
		{"lists without an indent", replaced("            - ", "          - ", "              containerPort", "            containerPort"), "            containerPort: 8081\n          - name: webhooks\n            containerPort: 9443\n          # Ready"},
		{"more in an item", replaced("8081\n", "8081 # probes\n              protocol: TCP\n"), "              protocol: TCP\n" + added},
		{"the number first", replaced("- name: health\n              containerPort: 8081", "- containerPort: 8081\n              name: health"), "              name: health\n" + added},
		{"items on one line", replaced("- name: health\n              containerPort: 8081", "- {name: health, containerPort: 8081}"), "8081}\n" + added},
		{"a second container without ports", replaced("          # Ready", "        - name: other\n          image: x\n          # Ready"), "8081\n" + added + "        - name: other\n"},
	} {
		text, changed, err := manifest.AddPort([]byte(row.before), "webhooks", 9443)
		require.NoError(t, err, row.reason)
		assert.True(t, changed, row.reason)
		assert.Contains(t, string(text), row.want, row.reason)
		again, changed, err := manifest.AddPort(text, "webhooks", 9443)
		require.NoError(t, err, row.reason)
		assert.False(t, changed, row.reason)
		assert.Equal(t, string(text), string(again), row.reason)
	}
	for reason, text := range map[string]string{
		"no YAML":                  "spec: [",
		"no containers":            "kind: Deployment\n",
		"no ports":                 replaced("          ports:\n", "          nothing:\n"),
		"all ports on one line":    "spec: {template: {spec: {containers: [{ports: [{containerPort: 1}]}]}}}\n",
		"ports of two containers":  replaced("          # Ready", "        - name: other\n          ports: [{containerPort: 1}]\n          # Ready"),
		"another list behind them": deployment + "other:\n  - containerPort: 8082\n",
		"no end of the line":       "spec:\n template:\n  spec:\n   containers:\n   - ports:\n     - containerPort: 1",
	} {
		_, _, err := manifest.AddPort([]byte(text), "webhooks", 9443)
		assert.ErrorIs(t, err, manifest.ErrNoPlace, reason)
	}
}

// FuzzAddPort: whatever the Deployment looks like, it is left alone, or has one port more and all that it had.
func FuzzAddPort(f *testing.F) {
	f.Add(deployment)
	f.Add("spec:\n template:\n  spec:\n   containers:\n   - ports:\n     - containerPort: 1\n")
	f.Fuzz(func(t *testing.T, before string) {
		text, changed, err := manifest.AddPort([]byte(before), "webhooks", 9443)
		if err != nil {
			assert.ErrorIs(t, err, manifest.ErrNoPlace)
			return
		}
		if !changed {
			assert.Equal(t, before, string(text))
			return
		}
		var was, is map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(before), &was))
		require.NoError(t, yaml.Unmarshal(text, &is))
		assert.NotEqual(t, was, is)
		_, changed, err = manifest.AddPort(text, "webhooks", 9443)
		assert.NoError(t, err)
		assert.False(t, changed, "it is there now")
	})
}
