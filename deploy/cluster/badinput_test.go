package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// refusing is an admission policy that refuses ConfigMaps with the label refuse, and returns its name.
func refusing(t testing.TB, env *envtest.Env, reason string) string {
	t.Helper()
	name := policy(t, env, "ValidatingAdmissionPolicy", "refuses-"+strings.ToLower(reason), "", "configmaps",
		`  validations: [{expression: '!(has(object.metadata.labels) && "refuse" in object.metadata.labels && object.metadata.labels.refuse == "`+reason+`")',
    message: "such settings aren't wanted", reason: `+reason+`}]`, ", validationActions: [Deny]")
	client := others(t, env, configMap)
	probe := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, labels: {refuse: "+reason+"}}}")
	require.Eventually(t, func() bool {
		_, err := client.Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), name)
	}, patience, 50*time.Millisecond, "the policy doesn't come to hold")
	return name
}

// One bad object among good ones is told, by its name and the reason, and the others are applied.
func TestBadObjects(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	m := must(deploy.NewManager(c))
	forbids, invalid := refusing(t, env, "Forbidden"), refusing(t, env, "Invalid")
	with := func(text string) *unstructured.Unstructured { return object(t, env.Namespace, text) }
	for name, test := range map[string]struct {
		reason string
		bad    *unstructured.Unstructured
		target any
		// says are parts of the error's text.
		says []string
		// writes are the requests that it takes to know.
		writes int
	}{
		"1.4 MB": {"what is too large once is so for ever", settings(t, env, "big", strings.Repeat("x", 1_400_000)),
			new(*deploy.InvalidError), []string{"ConfigMap " + env.Namespace + "/big", "1048576"}, 1},
		"an unknown field": {"it would never be stored, and written again each time",
			with("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, dat: {a: b}}"),
			new(*deploy.InvalidError), []string{"ConfigMap " + env.Namespace + "/settings", ".dat"}, 1},
		"an unknown field of a custom resource": {"its schema says so",
			with("{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart}, spec: {sizes: 1}}"),
			new(*deploy.InvalidError), []string{"Cart " + env.Namespace + "/cart", ".spec.sizes"}, 1},
		"forbidden by a policy": {"policy and object are named",
			with("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {refuse: Forbidden}}}"),
			new(*deploy.ForbiddenError), []string{"configmaps", "settings", forbids, "such settings aren't wanted"}, 1},
		"invalid to a policy": {"a policy may call it so too",
			with("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {refuse: Invalid}}}"),
			new(*deploy.InvalidError), []string{"ConfigMap " + env.Namespace + "/settings", invalid, "such settings aren't wanted"}, 1},
		"deploy 4: an unknown kind": {"nothing can be asked", with("{apiVersion: nowhere.operkit.dev/v1, kind: Nothing, metadata: {name: x}}"),
			new(*deploy.KindUnknownError), []string{"Nothing of nowhere.operkit.dev/v1"}, 0},
		"deploy W1: namespaced without namespace": {"no namespace is guessed", object(t, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"),
			new(*deploy.InvalidManifestError), []string{"ConfigMap settings", "metadata.namespace is missing"}, 0},
		"deploy W1: cluster-scoped with one": {"mostly the kind is wrong", with("{apiVersion: v1, kind: Node, metadata: {name: node}}"),
			new(*deploy.InvalidManifestError), []string{"Node " + env.Namespace + "/node", "leave metadata.namespace out"}, 0},
		"deploy 7: no name": {"an apply has a name", with("{apiVersion: v1, kind: ConfigMap, metadata: {}}"),
			new(*deploy.InvalidManifestError), []string{"ConfigMap without name"}, 0},
		"deploy 7: no kind": {"nothing is guessed", with("{apiVersion: v1, metadata: {name: settings}}"),
			new(*deploy.InvalidManifestError), []string{`object "settings" without kind`}, 0},
		"a list": {"its items are the objects", with("{apiVersion: v1, kind: ConfigMapList, metadata: {name: x}, items: []}"),
			new(*deploy.InvalidManifestError), []string{"pass its items one by one"}, 0},
		"generateName": {"a second apply would make a second one", with("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: x-}}"),
			new(*deploy.InvalidManifestError), []string{"generateName can't be applied"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			good := settings(t, env, "good-"+strings.ToLower(strings.NewReplacer(" ", "-", ".", "", ":", "").Replace(name)), "1")
			before := test.bad.DeepCopy()
			mark := env.Mark(t)
			results, err := m.Apply(t.Context(), []*unstructured.Unstructured{test.bad, good})
			require.Error(t, err, test.reason)
			require.Len(t, results, 2)
			assert.Equal(t, deploy.Failed, results[0].Action, test.reason)
			require.True(t, errors.As(results[0].Err, test.target), "%T: %v", results[0].Err, results[0].Err)
			for _, part := range test.says {
				assert.ErrorContains(t, results[0].Err, part)
			}
			assert.Equal(t, deploy.Created, results[1].Action, "the others are applied")
			assert.Len(t, env.CallsSince(t, mark).Writes(), test.writes+1, "it isn't tried again")
			assert.Equal(t, before, test.bad, "deploy W11: inputs aren't changed")
			if test.bad.GetKind() == "ConfigMap" && test.bad.GetName() != "" {
				_, err := others(t, env, configMap).Get(t.Context(), test.bad.GetName(), metav1.GetOptions{})
				assert.True(t, apierrors.IsNotFound(err), "nothing of it is there")
			}
		})
	}
}

// One object in two places of a set can't be applied, whichever is meant: nothing is sent.
func TestBadSets(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	m := must(deploy.NewManager(newCluster(t, env.Config, cluster.Namespaces(env.Namespace))))
	scaler := func(version string) *unstructured.Unstructured {
		return object(t, env.Namespace, "{apiVersion: autoscaling/"+version+", kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}")
	}
	for name, test := range map[string]struct {
		objects []*unstructured.Unstructured
		says    string
	}{
		"twice":                    {[]*unstructured.Unstructured{settings(t, env, "a", "1"), settings(t, env, "b", "1"), settings(t, env, "a", "2")}, "ConfigMap " + env.Namespace + "/a: invalid manifest: it is given twice"},
		"in two versions":          {[]*unstructured.Unstructured{settings(t, env, "b", "1"), scaler("v1"), scaler("v2")}, "HorizontalPodAutoscaler " + env.Namespace + "/web: invalid manifest: it is given twice in one set, as v1 and as v2"},
		"by the default namespace": {[]*unstructured.Unstructured{settings(t, env, "a", "1"), object(t, "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")}, "given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			set := deploy.ApplySet{Parent: deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "set"}}
			mark := env.Mark(t)
			results, err := m.Apply(t.Context(), test.objects, deploy.DefaultNamespace(env.Namespace))
			var invalid *deploy.InvalidManifestError
			require.ErrorAs(t, err, &invalid)
			assert.ErrorContains(t, err, test.says)
			assert.Empty(t, results)
			assert.Empty(t, env.CallsSince(t, mark).Writes())

			_, err = m.ApplySet(t.Context(), set, test.objects, deploy.DefaultNamespace(env.Namespace))
			require.ErrorAs(t, err, &invalid)
			assert.ErrorContains(t, err, test.says)
			made, err := others(t, env, configMap).Get(t.Context(), "a", metav1.GetOptions{})
			assert.True(t, apierrors.IsNotFound(err), "%v", made)
		})
	}
}

// An object as it was exported from a cluster is applied without what the cluster added, and settles.
func TestExportedObjects(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, cart)
	m := must(deploy.NewManager(c))
	ref := apply(t, m, object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart}, spec: {size: 3}}")).Ref
	client := others(t, env, cart)
	edit(t, client, "cart", `{"status":{"phase":"x"}}`, "status")
	exported, err := client.Get(t.Context(), "cart", metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, exported.GetManagedFields())
	require.NotEmpty(t, exported.Object["status"])
	require.NoError(t, client.Delete(t.Context(), "cart", metav1.DeleteOptions{}))
	eventually(t, c, ref, func(obj *unstructured.Unstructured) bool { return obj == nil })

	created := apply(t, m, exported)
	assert.Equal(t, deploy.Created, created.Action)
	assert.NotEqual(t, exported.GetUID(), created.Object.GetUID())
	assert.NotContains(t, created.Object.Object, "status")
	edit(t, client, "cart", `{"status":{"phase":"y"}}`, "status")
	live, err := client.Get(t.Context(), "cart", metav1.GetOptions{})
	require.NoError(t, err)
	eventually(t, c, ref, func(obj *unstructured.Unstructured) bool {
		return obj.GetResourceVersion() == live.GetResourceVersion()
	})
	settles(t, env, m, exported, "a status and an old resourceVersion in the manifest are no intent")
}

// A change that a policy refuses leaves the object as it was.
func TestRefusedChange(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	m := must(deploy.NewManager(newCluster(t, env.Config, cluster.Namespaces(env.Namespace))))
	name := refusing(t, env, "Invalid")
	before := apply(t, m, settings(t, env, "settings", "1"))
	change := settings(t, env, "settings", "2")
	change.SetLabels(map[string]string{"refuse": "Invalid"})
	mark := env.Mark(t)
	results, err := m.Apply(t.Context(), []*unstructured.Unstructured{change})
	var invalid *deploy.InvalidError
	require.ErrorAs(t, err, &invalid)
	assert.ErrorContains(t, err, name)
	assert.Equal(t, deploy.Failed, results[0].Action)
	assert.Len(t, env.CallsSince(t, mark).Writes(), 1)
	live, err := others(t, env, configMap).Get(t.Context(), "settings", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, before.Object.GetResourceVersion(), live.GetResourceVersion())
	assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, env, "settings", "1")).Action)
}
