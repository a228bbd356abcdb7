package operator_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// boxDefinition has defaults for the spec of boxes.
const boxDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Box, plural: boxes}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            default: {}
            properties:
              widgets: {type: array, items: {type: string}, default: [standard]}
              mistake: {type: string}
              box: {type: string}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// undefined is what is written about kinds without a definition.
const undefined = "no defaults are set and no spelling is checked, for lack of the CustomResourceDefinition: give its file or folder with --resource-dir\n"

// Files are completed as an API server completes them.
func TestFilesAreCompleted(t *testing.T) {
	t.Parallel()
	graph := "COMPONENT         WAITS FOR\nwidget-standard   -\n"
	for reason, row := range map[string]struct {
		content   string
		args      []string
		code      int
		heads     []string
		out, said string
	}{
		"the defaults of a definition are rendered": {content: boxed + "{}", args: []string{"render", "-f", "DIR/a.yaml", "-r", "DIR/crd"},
			heads: []string{"widget-standard: Widget/standard", "first: ConfigMap/first", "second: ConfigMap/second"}},
		"a value replaces its default": {content: boxed + "{widgets: [x]}", args: []string{"run", "--dry-run", "--cr", "DIR/a.yaml", "-r", "DIR/crd"},
			heads: []string{"widget-x: Widget/x", "first: ConfigMap/first", "second: ConfigMap/second"}},
		"graph takes the defaults, too": {content: boxed + "{}", args: []string{"graph", "-f", "DIR/a.yaml", "-r", "DIR/crd"}, out: graph},
		"a misspelt field is named, with what is near": {content: boxed + "{widgts: [x], color: red}", args: []string{"graph", "-f", "DIR/a.yaml", "-r", "DIR/crd"}, out: graph,
			said: "warning: DIR/a.yaml, Box big: unknown field \"spec.color\" is left out\nwarning: DIR/a.yaml, Box big: unknown field \"spec.widgts\" is left out: did you mean widgets?\n"},
		"metadata is known without a definition": {content: "apiVersion: example.com/v1\nkind: Box\nmetadata: {name: big, lables: {a: b}}\n", args: []string{"render", "-f", "DIR/a.yaml"},
			said: "warning: DIR/a.yaml, Box big: unknown field \"metadata.lables\" is left out: did you mean labels?\nBox: " + undefined},
		"without a definition this is said once": {content: boxed + "{}\n---\n" + boxed + "{}\n", args: []string{"graph", "-f", "DIR/a.yaml"}, out: "COMPONENT   WAITS FOR\nCOMPONENT   WAITS FOR\n", said: "Box: " + undefined},
		"a key that is there twice": {content: boxed + "\n  widgets: [a]\n  widgets: [b]\n", args: []string{"graph", "-f", "DIR/a.yaml", "-r", "DIR/crd"}, out: "COMPONENT   WAITS FOR\nwidget-b    -\n",
			said: "warning: DIR/a.yaml, Box big: line 6: key \"widgets\" already set in map: the last value counts\n"},
		"a value that the schema refuses": {content: boxed + "{widgets: many}", args: []string{"render", "-f", "DIR/a.yaml", "-r", "DIR/crd"}, code: 1,
			said: "box-operator: DIR/a.yaml, Box big: Box default/big: invalid manifest: spec.widgets: expected list, got &{many}\n"},
		"a version that isn't served": {content: "apiVersion: example.com/v2\nkind: Box\nmetadata: {name: big}\n", args: []string{"render", "-f", "DIR/a.yaml", "-r", "DIR/crd"}, code: 2,
			said: "box-operator: DIR/a.yaml, Box big: kind Box of example.com/v2 is not served by the cluster: install its CustomResourceDefinition or correct apiVersion and kind\n"},
		"graph of the cluster has no such folder": {content: boxed + "{}", args: []string{"graph", "big", "-r", "DIR/crd"}, code: 2,
			said: "box-operator: --resource-dir needs --filename: a resource in the cluster is shown as the cluster has it\n"},
	} {
		t.Run("commands 1: "+reason, func(t *testing.T) {
			t.Parallel()
			code, out, said := render(t, map[string]string{"a.yaml": row.content, "crd/boxes.yaml": boxDefinition}, row.args...)
			require.Equal(t, row.code, code, said)
			if row.heads != nil {
				assert.Equal(t, row.heads, heads(out))
			} else {
				assert.Equal(t, row.out, out)
			}
			assert.Equal(t, row.said, said)
		})
	}
}
