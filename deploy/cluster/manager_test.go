package cluster_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shop is one object of each kind that servers treat in a way of their own.
func shop(t testing.TB, env *envtest.Env) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, text := range []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1'}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: password}, stringData: {password: secret}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}",
		`
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: dns, port: 53}, {name: dns-udp, port: 53, protocol: UDP}, {name: http, port: 80, targetPort: http}]`,
		`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {}, annotations: null}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {creationTimestamp: null, labels: {app: web}}
    spec:
      serviceAccountName: web
      volumes: [{name: tmp, emptyDir: {}}, {name: settings, configMap: {name: settings, items: []}}]
      containers:
      - name: web
        image: example.invalid/web:1
        args: [--port, "80"]
        env: [{name: A, value: ""}, {name: B, valueFrom: {secretKeyRef: {name: password, key: password, optional: false}}}]
        ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]
        resources: {requests: {cpu: 1000m, memory: "1073741824"}}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
        securityContext: {}`,
		`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]`,
		`
apiVersion: deploy.operkit.dev/v1
kind: Cart
metadata: {name: cart, finalizers: [deploy.operkit.dev/hold]}
spec: {size: 3, rules: {one: {to: here}}, free: {a: {b: [1, 2]}, c: {}}}
status: {phase: x}`,
	} {
		objects = append(objects, object(t, env.Namespace, text))
	}
	return objects
}

func TestApply(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"), envtest.Rights(envtest.EverythingInNamespace()))
	objects := shop(t, env)
	before := shop(t, env)
	c, end := endingCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	m := must(deploy.NewManager(c))

	mark := env.Mark(t)
	results, err := m.Apply(t.Context(), objects)
	require.NoError(t, err)
	for _, result := range results {
		assert.Equal(t, deploy.Created, result.Action, result.Ref)
		assert.NotEmpty(t, result.Object.GetUID())
		assert.Empty(t, result.Rewritten, "defaults and other forms of a value are no other content: %s", result.Ref)
		watch(t, c, result.Ref.Kind)
	}
	assert.Equal(t, before, objects, "deploy W11: inputs aren't changed")
	assert.Len(t, env.CallsSince(t, mark).Writes(), len(objects), "one write each")

	t.Run("deploy W2: the second time costs no call", func(t *testing.T) {
		mark := env.Mark(t)
		unchanged(t, m, objects)
		assert.Empty(t, env.CallsSince(t, mark))
	})
	end()
	t.Run("deploy W2: nor after a restart, with the watches synced", func(t *testing.T) {
		c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
		for _, result := range results {
			watch(t, c, result.Ref.Kind)
		}
		mark := env.Mark(t)
		unchanged(t, must(deploy.NewManager(c)), objects)
		assert.Empty(t, env.CallsSince(t, mark))
	})
	t.Run("without watches each costs one read", func(t *testing.T) {
		c := newCluster(t, env.Config)
		mark := env.Mark(t)
		unchanged(t, must(deploy.NewManager(c)), objects)
		calls := env.CallsSince(t, mark)
		assert.Empty(t, calls.Writes())
		assert.Len(t, calls.Reads(), len(objects))
	})
}

func unchanged(t testing.TB, m *deploy.Manager, objects []*unstructured.Unstructured) {
	t.Helper()
	results, err := m.Apply(t.Context(), objects)
	require.NoError(t, err)
	for _, result := range results {
		assert.Equal(t, deploy.Unchanged, result.Action, result.Ref)
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap, cart, service)
	m := must(deploy.NewManager(c))
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: '1', b: '2'}}"
	const aCart = "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: %s}, spec: {rules: {one: {to: here}}, free: {a: {b: x}}}}"
	const aService = "{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}}"
	for name, test := range map[string]struct {
		manifest string
		edit     string
		want     deploy.Action
	}{
		"value":              {settings, `{"data":{"a":"9"}}`, deploy.Configured},
		"removed":            {settings, `{"data":{"b":null}}`, deploy.Configured},
		"all-removed":        {settings, `{"data":null}`, deploy.Configured},
		"annotation-removed": {settings, `{"metadata":{"annotations":null}}`, deploy.Configured},
		"managers-emptied":   {settings, `{"metadata":{"managedFields":[{}]}}`, deploy.Configured},
		"added":              {settings, `{"data":{"c":"3"},"metadata":{"labels":{"x":"y"}}}`, deploy.Unchanged},
		"rule-changed":       {aCart, `{"spec":{"rules":{"one":{"to":"there"}}}}`, deploy.Configured},
		"rule-emptied":       {aCart, `{"spec":{"rules":{"one":{"to":null}}}}`, deploy.Configured},
		"rule-swapped":       {aCart, `{"spec":{"rules":{"one":{"to":null,"from":"x"}}}}`, deploy.Configured},
		"rule-added":         {aCart, `{"spec":{"rules":{"two":{"to":"x"}}}}`, deploy.Unchanged},
		"free-changed":       {aCart, `{"spec":{"free":{"a":{"b":"y"}}}}`, deploy.Configured},
		"free-emptied":       {aCart, `{"spec":{"free":{"a":{"b":null}}}}`, deploy.Configured},
		"free-removed":       {aCart, `{"spec":{"free":{"a":null}}}`, deploy.Configured},
		"port-changed":       {aService, `{"spec":{"ports":[{"port":80,"targetPort":9090,"protocol":"TCP"}]}}`, deploy.Configured},
		"selector-changed":   {aService, `{"spec":{"selector":{"app":"other"}}}`, deploy.Configured},
	} {
		t.Run(name, func(t *testing.T) {
			intent := object(t, env.Namespace, fmt.Sprintf(test.manifest, name))
			created := apply(t, m, intent)
			client := others(t, env, created.Ref.Kind)
			edit(t, client, name, test.edit)
			live, err := client.Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			eventually(t, c, created.Ref, func(obj *unstructured.Unstructured) bool {
				return obj.GetResourceVersion() == live.GetResourceVersion()
			})
			mark := env.Mark(t)
			result := apply(t, m, intent)
			assert.Equal(t, test.want, result.Action)
			if test.want == deploy.Configured {
				assert.Len(t, env.CallsSince(t, mark).Writes(), 1)
				assert.True(t, holds(result.Object.Object["spec"], intent.Object["spec"]), "repaired: %v", result.Object.Object)
				assert.True(t, holds(result.Object.Object["data"], intent.Object["data"]), "repaired: %v", result.Object.Object)
				mark = env.Mark(t)
				assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action, "one call is enough")
			}
			assert.Empty(t, env.CallsSince(t, mark))
		})
	}
}

// holds tells whether live has all that is wanted.
func holds(live, wanted any) bool {
	switch w := wanted.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for key, item := range w {
			ok = ok && holds(l[key], item)
		}
		return ok
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(w) {
			return false
		}
		for i := range w {
			ok = ok && holds(l[i], w[i])
		}
		return ok
	}
	return assert.ObjectsAreEqualValues(live, wanted)
}

func TestScaledReplicas(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, deployment)
	m := must(deploy.NewManager(c))
	manifest := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.invalid/web:%d"}]}`
	intent := object(t, env.Namespace, fmt.Sprintf(manifest, 1))
	ref := apply(t, m, intent).Ref
	client := others(t, env, deployment)
	edit(t, client, "web", `{"spec":{"replicas":2}}`, "scale")
	replicas := func(obj *unstructured.Unstructured) int64 {
		n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
		return n
	}
	eventually(t, c, ref, func(obj *unstructured.Unstructured) bool { return replicas(obj) == 2 })

	t.Run("deploy W5: a scaler's replicas are no drift", func(t *testing.T) {
		mark := env.Mark(t)
		for range 5 {
			assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action)
		}
		assert.Empty(t, env.CallsSince(t, mark))
	})
	t.Run("deploy W5: a change of another field leaves them", func(t *testing.T) {
		result := apply(t, m, object(t, env.Namespace, fmt.Sprintf(manifest, 2)))
		assert.Equal(t, deploy.Configured, result.Action)
		assert.EqualValues(t, 2, replicas(result.Object))
		mark := env.Mark(t)
		assert.Equal(t, deploy.Unchanged, apply(t, m, object(t, env.Namespace, fmt.Sprintf(manifest, 2))).Action)
		assert.Empty(t, env.CallsSince(t, mark))
	})
	t.Run("with the scaler's entry gone they are ours again", func(t *testing.T) {
		live, err := client.Get(t.Context(), "web", metav1.GetOptions{})
		require.NoError(t, err)
		var entries []metav1.ManagedFieldsEntry
		for _, entry := range live.GetManagedFields() {
			if entry.Subresource != "scale" {
				entries = append(entries, entry)
			}
		}
		live.SetManagedFields(entries)
		live.SetResourceVersion("") // the deployment controller writes too
		_, err = client.Update(t.Context(), live, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
		require.NoError(t, err)
		eventually(t, c, ref, func(obj *unstructured.Unstructured) bool {
			for _, entry := range obj.GetManagedFields() {
				if entry.Subresource == "scale" {
					return false
				}
			}
			return true
		})
		result := apply(t, m, object(t, env.Namespace, fmt.Sprintf(manifest, 2)))
		assert.Equal(t, deploy.Configured, result.Action)
		assert.EqualValues(t, 0, replicas(result.Object))
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap, cart)
	m := must(deploy.NewManager(c))
	settings := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
	held := object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: held, finalizers: [deploy.operkit.dev/hold]}}")
	absent := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: absent}}")
	unknown := object(t, env.Namespace, "{apiVersion: nowhere.operkit.dev/v1, kind: Nothing, metadata: {name: x}}")
	set := []*unstructured.Unstructured{settings, held, absent, unknown}
	for _, obj := range set[:2] {
		apply(t, m, obj)
	}
	actions := func(results deploy.Results) (actions []deploy.Action) {
		for _, result := range results {
			actions = append(actions, result.Action)
		}
		return actions
	}
	mark := env.Mark(t)
	results, err := m.Delete(t.Context(), set)
	require.NoError(t, err)
	assert.Equal(t, []deploy.Action{deploy.Removed, deploy.Removed, deploy.Skipped, deploy.Skipped}, actions(results))
	assert.Equal(t, map[string]int{"delete configmaps": 1, "delete carts.deploy.operkit.dev": 1}, env.CallsSince(t, mark).Writes().Count())
	remaining, err := m.Gone(t.Context(), set)
	require.NoError(t, err)
	assert.Equal(t, []deploy.Ref{deploy.RefOf(held)}, remaining, "a finalizer holds it")

	mark = env.Mark(t)
	results, err = m.Delete(t.Context(), set)
	require.NoError(t, err)
	assert.Equal(t, []deploy.Action{deploy.Skipped, deploy.Skipped, deploy.Skipped, deploy.Skipped}, actions(results))
	assert.Empty(t, env.CallsSince(t, mark).Writes())

	t.Run("deploy W14: another uid is left alone", func(t *testing.T) {
		created := apply(t, m, settings)
		err := c.Port().Delete(t.Context(), created.Ref, deploy.DeleteOptions{UID: "other"})
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
	})
	t.Run("the last finalizer lets go", func(t *testing.T) {
		live, err := c.View().Get(t.Context(), deploy.RefOf(held))
		require.NoError(t, err)
		require.NoError(t, m.RemoveFinalizer(t.Context(), live, "deploy.operkit.dev/hold"))
		live, err = c.View().Get(t.Context(), deploy.RefOf(held))
		require.NoError(t, err)
		assert.Nil(t, live, "seen at once")
	})
}

func TestUIDGoesAlong(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config)
	for name, manifest := range map[string]string{
		"of Kubernetes": "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}",
		"custom":        "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart}}",
	} {
		for _, exists := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s exists=%v", name, exists), func(t *testing.T) {
				obj := object(t, env.Namespace, manifest)
				if exists {
					apply(t, must(deploy.NewManager(c)), obj)
				}
				obj.SetUID("6f1ff2a4-0000-4000-8000-000000000000")
				_, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "operkit", Force: true})
				var stale *deploy.StaleError
				require.ErrorAs(t, err, &stale, "%v", err)
			})
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, cart, crate)
	m := must(deploy.NewManager(c))
	ref := apply(t, m, object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart}}")).Ref
	ready := func(*unstructured.Unstructured) (map[string]any, error) {
		return map[string]any{"conditions": []metav1.Condition{{Type: "Ready", Status: "True"}}}, nil
	}
	mark := env.Mark(t)
	for i, want := range []deploy.Action{deploy.Configured, deploy.Unchanged, deploy.Unchanged} {
		result, err := m.SetStatus(t.Context(), ref, ready)
		require.NoError(t, err)
		assert.Equal(t, want, result.Action, i)
	}
	assert.Equal(t, map[string]int{"patch carts.deploy.operkit.dev/status": 1}, env.CallsSince(t, mark).Count())

	t.Run("status W6: a conflict is computed anew", func(t *testing.T) {
		attempts := 0
		_, err := m.SetStatus(t.Context(), ref, func(current *unstructured.Unstructured) (map[string]any, error) {
			if attempts++; attempts == 1 {
				edit(t, others(t, env, cart), "cart", `{"status":{"theirs":"x"}}`, "status")
			}
			status, _, _ := unstructured.NestedMap(current.Object, "status")
			status["ours"] = "y"
			return status, nil
		})
		require.NoError(t, err)
		assert.Equal(t, 2, attempts)
		live, err := c.View().Get(t.Context(), ref)
		require.NoError(t, err)
		assert.Subset(t, live.Object["status"], map[string]any{"theirs": "x", "ours": "y"})
	})
	t.Run("deploy W13: a kind without status subresource is told", func(t *testing.T) {
		ref := apply(t, m, object(t, env.Namespace, "{apiVersion: late.operkit.dev/v1, kind: Crate, metadata: {name: crate}}")).Ref
		_, err := m.SetStatus(t.Context(), ref, ready)
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid)
		assert.ErrorContains(t, err, "no status subresource")
	})
}
