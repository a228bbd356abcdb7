package cluster_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func settings(t testing.TB, env *envtest.Env, name, value string) *unstructured.Unstructured {
	t.Helper()
	return object(t, env.Namespace, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: %q}}", name, value))
}

func TestCreate(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	port := c.Port()
	obj := settings(t, env, "settings", "1")
	before := obj.DeepCopy()

	t.Run("a dry run stores nothing", func(t *testing.T) {
		answer, err := port.Create(t.Context(), obj, deploy.CreateOptions{FieldManager: "creator", DryRun: true})
		require.NoError(t, err)
		assert.NotEmpty(t, answer.GetUID())
		live, err := port.Get(t.Context(), deploy.RefOf(obj))
		require.NoError(t, err)
		assert.Nil(t, live)
	})
	t.Run("one request, seen at once", func(t *testing.T) {
		mark := env.Mark(t)
		created, err := port.Create(t.Context(), obj, deploy.CreateOptions{FieldManager: "creator"})
		require.NoError(t, err)
		assert.Equal(t, before, obj, "deploy W11: inputs aren't changed")
		live, err := c.View().Get(t.Context(), deploy.RefOf(obj))
		require.NoError(t, err)
		sameState(t, created, live)
		assert.Equal(t, map[string]int{"create configmaps": 1}, env.CallsSince(t, mark).Count())
		assert.Equal(t, "creator", created.GetManagedFields()[0].Manager)
	})
	t.Run("a name that is taken", func(t *testing.T) {
		_, err := port.Create(t.Context(), obj, deploy.CreateOptions{FieldManager: "creator"})
		var exists *deploy.AlreadyExistsError
		require.ErrorAs(t, err, &exists)
		assert.Equal(t, deploy.RefOf(obj), exists.Ref)
	})
	t.Run("a name that the server makes, seen at once", func(t *testing.T) {
		mark := env.Mark(t)
		for range 20 {
			generated := obj.DeepCopy()
			generated.SetName("")
			generated.SetGenerateName("made-")
			created, err := port.Create(t.Context(), generated, deploy.CreateOptions{FieldManager: "creator"})
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(created.GetName(), "made-"))
			live, err := c.View().Get(t.Context(), deploy.RefOf(created))
			require.NoError(t, err)
			sameState(t, created, live)
		}
		assert.Equal(t, map[string]int{"create configmaps": 20}, env.CallsSince(t, mark).Count())
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	port := c.Port()
	first, err := port.Create(t.Context(), settings(t, env, "settings", "1"), deploy.CreateOptions{FieldManager: "creator"})
	require.NoError(t, err)
	changed := first.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(changed.Object, "2", "data", "a"))
	before := changed.DeepCopy()

	t.Run("a dry run stores nothing", func(t *testing.T) {
		answer, err := port.Update(t.Context(), changed, deploy.UpdateOptions{FieldManager: "updater", DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, changed.Object["data"], answer.Object["data"])
		live, err := port.Get(t.Context(), deploy.RefOf(first))
		require.NoError(t, err)
		sameState(t, first, live)
	})
	t.Run("one request, seen at once", func(t *testing.T) {
		mark := env.Mark(t)
		updated, err := port.Update(t.Context(), changed, deploy.UpdateOptions{FieldManager: "updater"})
		require.NoError(t, err)
		assert.Equal(t, before, changed, "deploy W11: inputs aren't changed")
		live, err := c.View().Get(t.Context(), deploy.RefOf(first))
		require.NoError(t, err)
		sameState(t, updated, live)
		assert.Equal(t, map[string]int{"update configmaps": 1}, env.CallsSince(t, mark).Count())
	})
	t.Run("deploy W4: what is outdated overwrites nothing", func(t *testing.T) {
		_, err := port.Update(t.Context(), changed, deploy.UpdateOptions{FieldManager: "updater"})
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
	})
	t.Run("deploy W4: nothing is sent without a resourceVersion", func(t *testing.T) {
		mark := env.Mark(t)
		_, err := port.Update(t.Context(), settings(t, env, "settings", "3"), deploy.UpdateOptions{FieldManager: "updater"})
		var invalid *deploy.InvalidManifestError
		require.ErrorAs(t, err, &invalid)
		assert.ErrorContains(t, err, "metadata.resourceVersion is missing")
		assert.Empty(t, env.CallsSince(t, mark))
	})
	t.Run("an absent object", func(t *testing.T) {
		gone := changed.DeepCopy()
		gone.SetName("gone")
		_, err := port.Update(t.Context(), gone, deploy.UpdateOptions{FieldManager: "updater"})
		var absent *deploy.NotFoundError
		require.ErrorAs(t, err, &absent)
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	port := c.Port()
	m := must(deploy.NewManager(c))
	for _, name := range []string{"c", "a", "b"} {
		obj := settings(t, env, name, "1")
		obj.SetLabels(map[string]string{"letter": name, "of": "list"})
		apply(t, m, obj)
	}
	all, err := labels.Parse("of=list")
	require.NoError(t, err)
	notA, err := labels.Parse("of=list,letter!=a")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		options  deploy.ListOptions
		want     []string
		requests int
	}{
		"labels, in the order of names":           {deploy.ListOptions{Labels: all}, []string{"a", "b", "c"}, 1},
		"deploy 35: others than these":            {deploy.ListOptions{Labels: notA}, []string{"b", "c"}, 1},
		"deploy 35: fields":                       {deploy.ListOptions{Fields: fields.OneTermEqualSelector("metadata.name", "b")}, []string{"b"}, 1},
		"deploy 35: both":                         {deploy.ListOptions{Labels: notA, Fields: fields.OneTermNotEqualSelector("metadata.name", "b")}, []string{"c"}, 1},
		"no selector":                             {deploy.ListOptions{}, []string{"a", "b", "c"}, 1},
		"labels that nothing has cost no call":    {deploy.ListOptions{Labels: labels.Nothing()}, nil, 0},
		"fields that nothing has cost none too":   {deploy.ListOptions{Fields: fields.Nothing()}, nil, 0},
		"selectors of everything are no selector": {deploy.ListOptions{Labels: labels.Everything(), Fields: fields.Everything()}, []string{"a", "b", "c"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := port.Scope(t.Context(), configMap)
			require.NoError(t, err)
			mark := env.Mark(t)
			listed, err := port.List(t.Context(), configMap, env.Namespace, test.options)
			require.NoError(t, err)
			var names []string
			for _, obj := range listed {
				assert.Equal(t, configMap, obj.GroupVersionKind(), "items say what they are")
				if obj.GetName() != "kube-root-ca.crt" { // which comes when it likes
					names = append(names, obj.GetName())
				}
			}
			assert.Equal(t, test.want, names)
			assert.Len(t, env.CallsSince(t, mark).Reads(), test.requests)
		})
	}
	t.Run("a field that can't be selected by", func(t *testing.T) {
		_, err := port.List(t.Context(), configMap, env.Namespace, deploy.ListOptions{Fields: fields.OneTermEqualSelector("data.a", "1")})
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid)
	})
	t.Run("past caches", func(t *testing.T) {
		watch(t, c, configMap)
		mark := env.Mark(t)
		_, err := port.List(t.Context(), configMap, env.Namespace, deploy.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, env.CallsSince(t, mark).Reads(), 1)
	})
}

// Objects that can't be sent, or not there, are told before anything is.
func TestBadInput(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config)
	port := c.Port()
	ref := func(kind schema.GroupVersionKind, namespace, name string) deploy.Ref {
		return deploy.Ref{Kind: kind, Namespace: namespace, Name: name}
	}
	node := schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	for name, test := range map[string]struct {
		ref  deploy.Ref
		says string
	}{
		"deploy W1: cluster-scoped with a namespace": {ref(node, env.Namespace, "n"), "leave metadata.namespace out"},
		"deploy W1: namespaced without one":          {ref(configMap, "", "settings"), "metadata.namespace is missing"},
		"a name that is a path":                      {ref(configMap, env.Namespace, "settings/status"), "may not contain '/'"},
		"a name that leads elsewhere":                {ref(configMap, env.Namespace, ".."), "may not be '..'"},
		"a namespace that leads elsewhere":           {ref(configMap, "..", "settings"), "metadata.namespace may not be '..'"},
		"a name with the sign of escapes":            {ref(configMap, env.Namespace, "%2e%2e"), "may not contain '%'"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := port.Scope(t.Context(), test.ref.Kind)
			require.NoError(t, err)
			obj := &unstructured.Unstructured{}
			obj.SetGroupVersionKind(test.ref.Kind)
			obj.SetNamespace(test.ref.Namespace)
			obj.SetName(test.ref.Name)
			versioned := obj.DeepCopy()
			versioned.SetResourceVersion("1")
			mark := env.Mark(t)
			_, get := port.Get(t.Context(), test.ref)
			_, apply := port.Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
			_, update := port.Update(t.Context(), versioned, deploy.UpdateOptions{FieldManager: "m"})
			remove := port.Delete(t.Context(), test.ref, deploy.DeleteOptions{})
			for _, err := range []error{get, apply, update, remove} {
				var invalid *deploy.InvalidManifestError
				require.ErrorAs(t, err, &invalid)
				assert.Equal(t, test.ref, invalid.Ref)
				assert.ErrorContains(t, err, test.says)
			}
			assert.Empty(t, env.CallsSince(t, mark))
		})
	}
	t.Run("a deletion without a name would be one of all", func(t *testing.T) {
		mark := env.Mark(t)
		var invalid *deploy.InvalidManifestError
		require.ErrorAs(t, port.Delete(t.Context(), ref(configMap, env.Namespace, ""), deploy.DeleteOptions{}), &invalid)
		assert.Empty(t, env.CallsSince(t, mark))
	})
	t.Run("a creation without any name", func(t *testing.T) {
		_, err := port.Create(t.Context(), object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap}"), deploy.CreateOptions{FieldManager: "m"})
		var invalid *deploy.InvalidManifestError
		require.ErrorAs(t, err, &invalid)
	})
}

// What the API server refuses would be refused again, and says which fields.
func TestRefused(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	port := newCluster(t, env.Config).Port()
	big := func(size int) *unstructured.Unstructured {
		obj := object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: big}}")
		obj.Object["spec"] = map[string]any{"free": map[string]any{"a": strings.Repeat("x", size)}}
		return obj
	}
	create := func(obj *unstructured.Unstructured) error {
		_, err := port.Create(t.Context(), obj, deploy.CreateOptions{FieldManager: "m"})
		return err
	}
	applied := func(obj *unstructured.Unstructured) error {
		_, err := port.Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
		return err
	}
	unknown := object(t, env.Namespace, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {port: 1, ports: [{port: 80}]}}")
	for name, test := range map[string]struct {
		err error
		// field is one that is named, says what the error says.
		field, says string
	}{
		"a value that is no port":      {create(object(t, env.Namespace, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80000}]}}")), "spec.ports[0].port", "65535"},
		"the same by apply":            {applied(object(t, env.Namespace, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80000}]}}")), "spec.ports[0].port", "65535"},
		"a name that is none":          {applied(settings(t, env, "Settings", "1")), "metadata.name", "lowercase"},
		"a schema's type":              {create(object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart}, spec: {size: big}}")), "spec.size", "integer"},
		"an unknown field by creation": {create(unknown), "", "spec.port"},
		"an unknown field by apply":    {applied(unknown), "", ".spec.port"},
		"1.4 MB in a ConfigMap":        {applied(settings(t, env, "big", strings.Repeat("x", 1_400_000))), "", "1048576"},
		"2 MB, too large for etcd":     {applied(big(2_000_000)), "", "large"},
		"4 MB, too large to be read":   {applied(big(4_000_000)), "", "limit is"},
	} {
		t.Run(name, func(t *testing.T) {
			var invalid *deploy.InvalidError
			require.ErrorAs(t, test.err, &invalid, "%T", test.err)
			assert.ErrorContains(t, invalid, test.says)
			if test.field == "" {
				return
			}
			var named []string
			for _, cause := range invalid.Causes {
				named = append(named, cause.Field)
				assert.NotEmpty(t, cause.Message)
			}
			assert.Contains(t, named, test.field)
		})
	}
}

func TestKindsByName(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	port := newCluster(t, env.Config).Port()
	event := []schema.GroupVersionKind{{Version: "v1", Kind: "Event"}, {Group: "events.k8s.io", Version: "v1", Kind: "Event"}}
	for name, test := range map[string]struct {
		name string
		want []schema.GroupVersionKind
	}{
		"deploy 4: the kind":                    {"Deployment", []schema.GroupVersionKind{deployment}},
		"the plural":                            {"deployments", []schema.GroupVersionKind{deployment}},
		"the singular":                          {"deployment", []schema.GroupVersionKind{deployment}},
		"deploy 4: a short name":                {"deploy", []schema.GroupVersionKind{deployment}},
		"a core kind":                           {"cm", []schema.GroupVersionKind{configMap}},
		"a defined one":                         {"Cart", []schema.GroupVersionKind{cart}},
		"its plural":                            {"carts", []schema.GroupVersionKind{cart}},
		"several, ascending":                    {"Event", event},
		"several by another name":               {"ev", event},
		"of several versions the preferred one": {"HorizontalPodAutoscaler", []schema.GroupVersionKind{{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}}},
		"a subresource is none":                 {"Scale", nil},
		"nothing":                               {"Nothing", nil},
		"no name":                               {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := port.Kinds(t.Context(), test.name)
			require.NoError(t, err)
			assert.Equal(t, test.want, found)
		})
	}
}

// Some remarks have their place in the answer, others are logged: none gets lost.
func TestWarnings(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	var said lines
	c := newCluster(t, env.Config, cluster.Logger(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	port := c.Port()
	deprecated := object(t, env.Namespace, "{apiVersion: v1, kind: Endpoints, metadata: {name: web}}")

	applied, err := port.Apply(t.Context(), deprecated, deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	require.Len(t, applied.Warnings, 1)
	assert.Contains(t, applied.Warnings[0], "deprecated")
	assert.Empty(t, said.String(), "it is in the answer")

	applied, err = port.Apply(t.Context(), settings(t, env, "settings", "1"), deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	assert.Empty(t, applied.Warnings)

	deprecated.SetName("other")
	_, err = port.Create(t.Context(), deprecated, deploy.CreateOptions{FieldManager: "m"})
	require.NoError(t, err)
	assert.Equal(t, 1, said.count("deprecated"), "%s", said.String())
	assert.Equal(t, 1, said.count("level=WARN"), "%s", said.String())
	assert.Equal(t, 1, said.count("Endpoints "+env.Namespace+"/other"))

	for _, name := range []string{"third", "fourth"} {
		deprecated.SetName(name)
		_, err = port.Create(t.Context(), deprecated, deploy.CreateOptions{FieldManager: "m"})
		require.NoError(t, err)
	}
	assert.Equal(t, 1, said.count("level=WARN"), "the same of the next object is no warning any more: %s", said.String())
	assert.Equal(t, 2, said.count("level=DEBUG"), "%s", said.String())
}
