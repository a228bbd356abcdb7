package smp_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp"
)

func Example() {
	deployment := []byte(`{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"},
		"spec": {"template": {"spec": {"containers": [
			{"name": "web", "image": "web:1", "env": [{"name": "LEVEL", "value": "info"}]},
			{"name": "log", "image": "log:1"}
		]}}}
	}`)
	patch := []byte(`
spec:
  template:
    spec:
      containers:
      - name: web
        env:
        - {name: LEVEL, value: debug}
        - {name: TRACE, value: "1"}
      - {name: log, $patch: delete}
`)

	schema := smp.SchemaFor(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	patched, err := smp.YAMLText.Strategic(deployment, patch, schema)
	if err != nil {
		fmt.Println(err) // a *smp.PatchError: which patch, which object, where in it, what kind of error
	}
	back, err := smp.YAMLText.Diff(patched, deployment, schema)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(string(back))
	// Output:
	// spec:
	//   template:
	//     spec:
	//       containers:
	//       - env:
	//         - name: LEVEL
	//           value: info
	//         - "$patch": delete
	//           name: TRACE
	//         name: web
	//       - image: log:1
	//         name: log
}

// TestReadme checks that the snippet of the README is the code of Example, and what it is said to
// print the output.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	code, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	blocks := strings.Split(string(readme), "```")
	require.Len(t, blocks, 5)
	assert.Contains(t, withoutTabs(string(code)), withoutTabs(strings.TrimPrefix(blocks[1], "go\n")))
	assert.Contains(t, strings.ReplaceAll(string(code), "\t// ", ""), strings.TrimPrefix(blocks[3], "\n"))
}

// withoutTabs takes the indent off each line.
func withoutTabs(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String()
}
