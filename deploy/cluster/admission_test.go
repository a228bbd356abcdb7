package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// admissions are the resources of the policies that rewrite or refuse objects, and of their bindings.
var admissions = map[string]schema.GroupVersionResource{
	"MutatingAdmissionPolicy":          {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicies"},
	"MutatingAdmissionPolicyBinding":   {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"},
	"ValidatingAdmissionPolicy":        {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
	"ValidatingAdmissionPolicyBinding": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
}

// policy makes an admission policy for one resource in the test's namespace, and binds it, until the test
// ends. It returns its name; when it begins to hold is not told by the API server.
func policy(t testing.TB, env *envtest.Env, kind, name, group, resource, spec, binding string) string {
	t.Helper()
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	name += "." + env.Namespace
	for _, manifest := range []string{
		fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: %s
metadata: {name: %q}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
    resourceRules: [{apiGroups: [%q], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [%s]}]
%s`, kind, name, env.Namespace, group, resource, spec),
		fmt.Sprintf("{apiVersion: admissionregistration.k8s.io/v1, kind: %sBinding, metadata: {name: %q}, spec: {policyName: %q%s}}", kind, name, name, binding),
	} {
		obj := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(manifest), &obj.Object))
		resources := client.Resource(admissions[obj.GetKind()])
		_, err := resources.Create(t.Context(), obj, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		require.NoError(t, err)
		t.Cleanup(func() {
			assert.NoError(t, resources.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}))
		})
	}
	return name
}

// rewriting is an admission policy that changes objects as they are written.
func rewriting(t testing.TB, env *envtest.Env, name, group, resource, mutation string) {
	t.Helper()
	policy(t, env, "MutatingAdmissionPolicy", name, group, resource, "  reinvocationPolicy: Never\n  mutations:\n"+mutation, "")
}

const jsonPatch = `  - patchType: JSONPatch
    jsonPatch: {expression: '%s'}
`

const settingsToRewrite = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}, annotations: {note: ours}}
data: {a: ours, b: ours, change: "%d"}`

const webToRewrite = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "example.invalid/web:1", args: [--port, "80"], env: [{name: A, value: ours}, {name: CHANGE, value: "%d"}], ports: [{containerPort: 80}]}`

// An object that admission rewrites as it is written is as it should be: what was sent was taken. Values
// that differ are the cluster's policy, and to write them again and again would change nothing.
func TestAdmissionThatRewritesSettles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, manifest, resource string
		mutation                   string
		// rewritten is what the object has then that nobody sent.
		rewritten string
	}{
		"adds": {
			"a label, a finalizer: nobody's fields", settingsToRewrite, "configmaps",
			`  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: Object.metadata.labels{injected: "yes"}, finalizers: ["deploy.operkit.dev/hold"]}}'}
`,
			"{metadata: {labels: {app: web, injected: 'yes'}, finalizers: [deploy.operkit.dev/hold]}}",
		},
		"changes": {
			"the value of our key, our label and our annotation", settingsToRewrite, "configmaps",
			fmt.Sprintf(jsonPatch, `[JSONPatch{op: "add", path: "/metadata/labels/injected", value: "yes"}, JSONPatch{op: "replace", path: "/data/a", value: "theirs"},
      JSONPatch{op: "replace", path: "/metadata/labels/app", value: "theirs"}, JSONPatch{op: "replace", path: "/metadata/annotations/note", value: "theirs"}]`),
			"{metadata: {labels: {app: theirs, injected: 'yes'}, annotations: {note: theirs}}, data: {a: theirs, b: ours}}",
		},
		"grows": {
			"a value that is another one after each write", settingsToRewrite, "configmaps",
			fmt.Sprintf(jsonPatch, `[JSONPatch{op: "add", path: "/data/grown", value: has(object.data.grown) ? object.data.grown + "x" : "x"},
      JSONPatch{op: "replace", path: "/data/a", value: object.data.a + "x"}]`),
			"{data: {a: oursx}}",
		},
		"removes": {
			"our key", settingsToRewrite, "configmaps",
			fmt.Sprintf(jsonPatch, `[JSONPatch{op: "remove", path: "/data/b"}]`),
			"{data: {a: ours, b: null}}",
		},
		"sidecar": {
			"a container behind ours, in a list with keys", webToRewrite, "deployments",
			`  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "sidecar", image: "example.invalid/sidecar:1"}]}}}}'}
`,
			"{spec: {template: {spec: {containers: [{name: web}, {name: sidecar, image: 'example.invalid/sidecar:1'}]}}}}",
		},
		"first": {
			"a container before ours", webToRewrite, "deployments",
			fmt.Sprintf(jsonPatch, `object.spec.template.spec.containers.exists(c, c.name == "sidecar") ? [] :
      [JSONPatch{op: "add", path: "/spec/template/spec/containers/0", value: Object.spec.template.spec.containers{name: "sidecar", image: "example.invalid/sidecar:1"}}]`),
			"{spec: {template: {spec: {containers: [{name: sidecar, image: 'example.invalid/sidecar:1'}, {name: web}]}}}}",
		},
		"mirror": {
			"the image, the arguments and an environment of our container", webToRewrite, "deployments",
			fmt.Sprintf(jsonPatch, `[JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror.invalid/web:1"},
      JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/args", value: ["--proxy"]},
      JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/env/0/value", value: "theirs"}]`),
			"{spec: {template: {spec: {containers: [{name: web, image: 'mirror.invalid/web:1', args: [--proxy], env: [{name: A, value: theirs}, {name: CHANGE}]}]}}}}",
		},
	} {
		t.Run("deploy W2: "+name, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t)
			group := map[string]string{"configmaps": "", "deployments": "apps"}[test.resource]
			intent := func(change int) *unstructured.Unstructured {
				return object(t, env.Namespace, fmt.Sprintf(test.manifest, change))
			}
			rewritten := object(t, "", test.rewritten)
			rewriting(t, env, name, group, test.resource, test.mutation)
			kind := intent(0).GroupVersionKind()
			awaitPolicy(t, env, intent(0), rewritten)

			c, end := endingCluster(t, env.Config, cluster.Namespaces(env.Namespace))
			watch(t, c, kind)
			m := must(deploy.NewManager(c))
			created := apply(t, m, intent(1))
			assert.Equal(t, deploy.Created, created.Action)
			requireShows(t, created.Object, rewritten, test.reason)
			assert.Equal(t, rewrites[name], texts(created.Rewritten), "the result says what is stored otherwise")
			settles(t, env, m, intent(1), test.reason)

			result := apply(t, m, intent(2))
			assert.Equal(t, deploy.Configured, result.Action, "a change of the intent is applied")
			requireShows(t, result.Object, rewritten, "and rewritten again")
			settles(t, env, m, intent(2), "after a change: "+test.reason)
			end()

			again := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
			watch(t, again, kind)
			settles(t, env, must(deploy.NewManager(again)), intent(2), "after a restart: "+test.reason)
			removeFinalizers(t, env, result.Ref)
		})
	}
}

// rewrites are what of the intent is stored otherwise, by the names of the policies.
var rewrites = map[string][]string{
	"changes": {`.data.a: "ours" -> "theirs"`, `.metadata.annotations.note: "ours" -> "theirs"`, `.metadata.labels.app: "web" -> "theirs"`},
	"grows":   {`.data.a: "ours" -> "oursx"`},
	"removes": {`.data.b: "ours" -> none`},
	"mirror": {
		`.spec.template.spec.containers[name="web"].args[0]: "--port" -> "--proxy"`,
		`.spec.template.spec.containers[name="web"].args[1]: "80" -> none`,
		`.spec.template.spec.containers[name="web"].env[name="A"].value: "ours" -> "theirs"`,
		`.spec.template.spec.containers[name="web"].image: "example.invalid/web:1" -> "mirror.invalid/web:1"`,
	},
}

func texts(changes []deploy.Change) (out []string) {
	for _, change := range changes {
		out = append(out, change.String())
	}
	return out
}

// Where nothing on the object says that it is as it should be, one request tells, once in each process: it
// changes nothing, and is not sent again for the same manifest and object.
func TestAdmissionThatHidesSettlesToo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, mutation, rewritten string
		strategy                    deploy.Strategy
	}{
		"replaced": {
			"a replacement is judged by values, of which one is another", `[JSONPatch{op: "replace", path: "/data/a", value: "theirs"}]`,
			"{data: {a: theirs, b: ours}}", deploy.Replace,
		},
		"stripped": {
			"the hash is taken off", `has(object.metadata.annotations) ? [JSONPatch{op: "remove", path: "/metadata/annotations"}] : []`,
			"{metadata: {annotations: null}}", deploy.ServerSideApply,
		},
		"replaced and stripped": {
			"both", `has(object.metadata.annotations) ? [JSONPatch{op: "remove", path: "/metadata/annotations"}] : []`,
			"{metadata: {annotations: null}}", deploy.Replace,
		},
	} {
		t.Run("deploy W2: "+name, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t)
			intent := object(t, env.Namespace, fmt.Sprintf(settingsToRewrite, 1))
			rewritten := object(t, "", test.rewritten)
			rewriting(t, env, strings.ReplaceAll(name, " ", "-"), "", "configmaps", fmt.Sprintf(jsonPatch, test.mutation))
			awaitPolicy(t, env, intent.DeepCopy(), rewritten)

			c, end := endingCluster(t, env.Config, cluster.Namespaces(env.Namespace))
			watch(t, c, configMap)
			m := must(deploy.NewManager(c, deploy.DefaultStrategy(test.strategy)))
			requireShows(t, apply(t, m, intent).Object, rewritten, test.reason)
			apply(t, m, intent) // a replacement takes over what the creation has applied
			version := settlesByAsking(t, env, m, intent, test.reason)
			end()

			again := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
			watch(t, again, configMap)
			m = must(deploy.NewManager(again, deploy.DefaultStrategy(test.strategy)))
			assert.Equal(t, version, settlesByAsking(t, env, m, intent, "after a restart: "+test.reason), "nothing was changed")
		})
	}
}

// settlesByAsking wants one write at most, which changes nothing, and returns the object's version.
func settlesByAsking(t testing.TB, env *envtest.Env, m *deploy.Manager, intent *unstructured.Unstructured, reason string) string {
	t.Helper()
	mark := env.Mark(t)
	first := apply(t, m, intent)
	assert.Equal(t, deploy.Unchanged, first.Action, reason)
	assert.LessOrEqual(t, len(env.CallsSince(t, mark)), 1, reason)
	settles(t, env, m, intent, reason)
	return first.Object.GetResourceVersion()
}

// settles applies an object as often as an operator does in a while, and wants no request for it.
func settles(t testing.TB, env *envtest.Env, m *deploy.Manager, intent *unstructured.Unstructured, reason string) {
	t.Helper()
	mark := env.Mark(t)
	for range 10 {
		result := apply(t, m, intent)
		assert.Equal(t, deploy.Unchanged, result.Action, reason)
	}
	assert.Empty(t, env.CallsSince(t, mark), reason)
}

// awaitPolicy waits until a policy rewrites objects like this one, which isn't stored.
func awaitPolicy(t testing.TB, env *envtest.Env, like, rewritten *unstructured.Unstructured) {
	t.Helper()
	client := others(t, env, like.GroupVersionKind())
	like.SetName("probe")
	require.Eventually(t, func() bool {
		made, err := client.Create(t.Context(), like, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && shows(made.Object, rewritten.Object)
	}, patience, 50*time.Millisecond, "the policy doesn't come to hold")
}

func requireShows(t testing.TB, obj, want *unstructured.Unstructured, reason string) {
	t.Helper()
	require.True(t, shows(obj.Object, want.Object), "%s: wanted %v in %v", reason, want.Object, obj.Object)
}

// shows tells whether an object has all of what is wanted, and nothing where null is.
func shows(live, wanted any) bool {
	content, isMap := wanted.(map[string]any)
	if !isMap {
		return holds(live, wanted)
	}
	has, _ := live.(map[string]any)
	for key, item := range content {
		if item == nil && has[key] != nil || item != nil && !shows(has[key], item) {
			return false
		}
	}
	return true
}

func removeFinalizers(t testing.TB, env *envtest.Env, ref deploy.Ref) {
	t.Helper()
	client := others(t, env, ref.Kind)
	live, err := client.Get(t.Context(), ref.Name, metav1.GetOptions{})
	require.NoError(t, err)
	if len(live.GetFinalizers()) > 0 {
		require.NoError(t, client.Delete(t.Context(), ref.Name, metav1.DeleteOptions{}))
		_, err = client.Patch(t.Context(), ref.Name, "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
}
