package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const pythonExample = "../../examples/hook-python/"

var greetings = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Greeting"}

// The example in Python, with exactly the rights that it asks for.
func TestPythonExample(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs(pythonExample+"config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	somebody := bystander.New(t, api, env.Namespace, "somebody")
	definitions, calls := counting(t)
	user := env.User(t, "greetings", envtest.RolesIn(pythonExample+"config/rbac"))
	process := program.Start(t, program.Command("run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, user), "--definitions", definitions))
	world := &unstructured.Unstructured{}
	text, err := os.ReadFile(pythonExample + "config/sample.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &world.Object))
	world.SetNamespace("")
	somebody.Create(world)
	ready := func(reason string) {
		t.Helper()
		somebody.Eventually(reason, func() bool {
			conditions, _, _ := unstructured.NestedSlice(somebody.Get(greetings, "world").Object, "status", "conditions")
			return len(conditions) == 1 && conditions[0].(map[string]any)["reason"] == reason
		})
		env.AwaitQuiet(t, user)
	}
	says := func(name string) any {
		t.Helper()
		found := somebody.Get(configMaps, name)
		if found == nil {
			return nil
		}
		return found.Object["data"].(map[string]any)["text"]
	}
	ready("Greets")
	assert.Equal(t, "Hello, World!", says("world-en"))
	assert.Equal(t, "Salve, World!", says("world-la"))

	mark, before := env.Mark(t), calls()
	somebody.Merge(configMaps, "world-en", `{"metadata":{"annotations":{"somebody":"was here"}}}`)
	somebody.Eventually("the hook is asked after an event", func() bool { return calls() > before })
	env.AwaitQuiet(t, user)
	assert.Empty(t, env.CallsSince(t, mark, user).Writes(), "what it wants is there")
	mark, before = env.Mark(t), calls()
	env.AwaitQuiet(t, user)
	isAboutObjects := func(c audit.Call) bool { return c.Resource != "" } // besides, it looks each minute which kinds are served
	assert.Empty(t, env.CallsSince(t, mark, user).Filter(isAboutObjects), "settled: no request")
	assert.Equal(t, before, calls(), "and no call of the hook")

	somebody.Merge(greetings, "world", `{"spec":{"languages":["fr","xx"]}}`)
	ready("UnknownLanguage")
	assert.Equal(t, "Bonjour, World!", says("world-fr"))
	assert.Nil(t, says("world-en"))
	assert.Empty(t, env.Calls(t, user).Forbidden(), "its rights suffice")
	process.Stop(t)
}

// counting returns the definition of the example, whose hook notes its calls, and how many there were.
func counting(t *testing.T) (file string, calls func() int) {
	t.Helper()
	text, err := os.ReadFile(pythonExample + "controller.yaml")
	require.NoError(t, err)
	dir, err := filepath.Abs(pythonExample)
	require.NoError(t, err)
	noted := filepath.Join(t.TempDir(), "calls")
	const command = "command: [python3, hook.py]"
	require.Contains(t, string(text), command)
	definition := strings.Replace(string(text), command, "workingDir: "+dir+", command: [sh, -c, 'tee -a "+noted+" | python3 hook.py']", 1)
	file = filepath.Join(t.TempDir(), "controller.yaml")
	require.NoError(t, os.WriteFile(file, []byte(definition), 0o600))
	return file, func() int {
		content, _ := os.ReadFile(noted) // there is none before the first call
		return strings.Count(string(content), "\n")
	}
}
