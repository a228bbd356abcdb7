package deploy_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// setCluster is a cluster in memory that writes down every request and may fail it.
type setCluster struct {
	memory *dryrun.Cluster
	// before is asked ahead of each call, after once it was carried out; an error is the answer.
	before, after func(call string) error
	// listed may change the answer to a list.
	listed func(kind string, members []*unstructured.Unstructured) []*unstructured.Unstructured

	mu    sync.Mutex
	calls []string
}

func newSetCluster(t testing.TB, seeds ...*unstructured.Unstructured) *setCluster {
	t.Helper()
	return setClusterOf(t, dryrun.Namespaces("shop", "east", "west"), dryrun.Objects(seeds...))
}

func setClusterOf(t testing.TB, options ...dryrun.Option) *setCluster {
	t.Helper()
	memory, err := dryrun.New(options...)
	require.NoError(t, err)
	return &setCluster{memory: memory}
}

func (c *setCluster) Port() deploy.Port { return setClusterPort{c.memory.Port(), c} }
func (c *setCluster) View() deploy.View { return setClusterView{c.memory.View(), c} }

func (c *setCluster) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *setCluster) get(t testing.TB, ref deploy.Ref) *unstructured.Unstructured {
	t.Helper()
	obj, err := c.memory.View().Get(t.Context(), ref)
	require.NoError(t, err)
	return obj.DeepCopy()
}

func (c *setCluster) put(t testing.TB, objs ...*unstructured.Unstructured) {
	t.Helper()
	for _, obj := range objs {
		_, err := c.memory.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "somebody", Force: true})
		require.NoError(t, err)
	}
}

func (c *setCluster) do(call string, carryOut func() error) error {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	if c.before != nil {
		if err := c.before(call); err != nil {
			return err
		}
	}
	if err := carryOut(); err != nil {
		return err
	}
	if c.after != nil {
		return c.after(call)
	}
	return nil
}

type setClusterPort struct {
	deploy.Port
	cluster *setCluster
}

func asked[T any](c *setCluster, call string, dryRun bool, carryOut func() (T, error)) (answer T, err error) {
	if dryRun {
		call += " dry-run"
	}
	err = c.do(call, func() error {
		answer, err = carryOut()
		return err
	})
	return answer, err
}

func (p setClusterPort) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return asked(p.cluster, "get "+ref.String(), false, func() (*unstructured.Unstructured, error) { return p.Port.Get(ctx, ref) })
}

func (p setClusterPort) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	call := "apply " + deploy.RefOf(obj).String()
	if kinds, isParent := obj.GetAnnotations()[deploy.SetKindsAnnotation]; isParent {
		call += " as " + options.FieldManager + " of " + kinds
	}
	return asked(p.cluster, call, options.DryRun, func() (deploy.Applied, error) { return p.Port.Apply(ctx, obj, options) })
}

func (p setClusterPort) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	call := "create " + deploy.RefOf(obj).String() + " as " + options.FieldManager + " of " + obj.GetAnnotations()[deploy.SetKindsAnnotation]
	return asked(p.cluster, call, options.DryRun, func() (*unstructured.Unstructured, error) { return p.Port.Create(ctx, obj, options) })
}

func (p setClusterPort) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	if options.UID == "" {
		return errors.New("a deletion without uid")
	}
	_, err := asked(p.cluster, "delete "+ref.String(), options.DryRun, func() (any, error) { return nil, p.Port.Delete(ctx, ref, options) })
	return err
}

func (p setClusterPort) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	return asked(p.cluster, strings.TrimSpace("list "+kind.Kind+" "+namespace), false, func() ([]*unstructured.Unstructured, error) {
		members, err := p.Port.List(ctx, kind, namespace, options)
		if p.cluster.listed != nil && err == nil {
			members = p.cluster.listed(kind.Kind, members)
		}
		return members, err
	})
}

type setClusterView struct {
	deploy.View
	cluster *setCluster
}

func (v setClusterView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if v.cluster.before != nil {
		if err := v.cluster.before("view " + ref.String()); err != nil {
			return nil, err
		}
	}
	return v.View.Get(ctx, ref)
}

// shop is the set of Secret shop/folder.
var shop = deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "folder"}}

var folder = deploy.Ref{Kind: secret, Namespace: "shop", Name: "folder"}

const folderName = "Secret shop/folder"

// item is an object with nothing but a name.
func item(t testing.TB, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	versions := map[string]string{
		"ClusterRole": "rbac.authorization.k8s.io/v1", "Ingress": "networking.k8s.io/v1",
		"CustomResourceDefinition": "apiextensions.k8s.io/v1", "Deployment": "apps/v1",
	}
	version := versions[kind]
	if version == "" {
		version = "v1"
	}
	obj := object(t, "{apiVersion: "+version+", kind: "+kind+", metadata: {name: "+name+"}}")
	obj.SetNamespace(namespace)
	return obj
}

// inSet gives obj the label of a set.
func inSet(obj *unstructured.Unstructured, set deploy.ApplySet) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	obj.SetLabels(map[string]string{deploy.PartOfLabel: set.ID()})
	return obj
}

func actionsOf(results deploy.SetResults) (applied, pruned []string) {
	for _, result := range results.Applied {
		applied = append(applied, result.Ref.String()+" "+string(result.Action))
	}
	for _, result := range results.Pruned {
		pruned = append(pruned, result.Ref.String()+" "+string(result.Action))
	}
	return applied, pruned
}

// remembered is what the parent says: kinds and namespaces.
func (c *setCluster) remembered(t testing.TB, ref deploy.Ref) []string {
	t.Helper()
	parent := c.get(t, ref)
	require.NotNil(t, parent)
	annotations := parent.GetAnnotations()
	return []string{annotations[deploy.SetKindsAnnotation], annotations[deploy.SetNamespacesAnnotation]}
}

func TestApplySetID(t *testing.T) {
	t.Parallel()
	// As kubectl's own tests have them.
	assert.Equal(t, "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1",
		deploy.ApplySet{Parent: deploy.Ref{Namespace: "test", Name: "my-set"}}.ID())
	assert.Equal(t, "applyset-rhp1a-HVAVT_dFgyEygyA1BEB82HPp2o10UiFTpqtAs-v1",
		deploy.ApplySet{Parent: deploy.Ref{Kind: schema.GroupVersionKind{Group: "company.com", Version: "v1", Kind: "ApplySet"}, Name: "my-set"}}.ID())
}

func TestApplySet(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cluster := newSetCluster(t, item(t, "ConfigMap", "shop", "foreign"))
	m := must(deploy.NewManager(cluster, deploy.FieldManager("shopkeeper"), deploy.Concurrency(1)))
	first := objects(item(t, "ConfigMap", "shop", "a"), item(t, "ServiceAccount", "east", "b"), item(t, "ClusterRole", "", "c"))

	t.Run("the parent first, then the objects, then the search for members", func(t *testing.T) {
		results, err := m.ApplySet(ctx, shop, first)
		require.NoError(t, err)
		applied, pruned := actionsOf(results)
		assert.Equal(t, []string{"ConfigMap shop/a created", "ServiceAccount east/b created", "ClusterRole c created"}, applied)
		assert.Empty(t, pruned)
		assert.True(t, results.Changed())
		calls := cluster.take()
		assert.Equal(t, []string{
			"get " + folderName,
			"create " + folderName + " as shopkeeper-applyset of ClusterRole.rbac.authorization.k8s.io,ConfigMap,ServiceAccount",
			"apply ConfigMap shop/a", "apply ServiceAccount east/b", "apply ClusterRole c",
			"list ClusterRole", "list ConfigMap east", "list ConfigMap shop", "list ServiceAccount east", "list ServiceAccount shop",
		}, calls)
		assert.Equal(t, 7, results.Calls)
		parent := cluster.get(t, folder)
		assert.Equal(t, map[string]string{deploy.SetIDLabel: shop.ID()}, parent.GetLabels())
		assert.Equal(t, map[string]string{
			deploy.SetToolingAnnotation:    "shopkeeper/v1",
			deploy.SetKindsAnnotation:      "ClusterRole.rbac.authorization.k8s.io,ConfigMap,ServiceAccount",
			deploy.SetNamespacesAnnotation: "east",
		}, parent.GetAnnotations())
		assert.Equal(t, shop.ID(), cluster.get(t, deploy.RefOf(first[1])).GetLabels()[deploy.PartOfLabel])
		assert.Empty(t, first[0].GetLabels(), "inputs aren't changed")
	})
	t.Run("unchanged: only the parent is read and members are listed", func(t *testing.T) {
		results, err := m.ApplySet(ctx, shop, first)
		require.NoError(t, err)
		assert.False(t, results.Changed())
		assert.Equal(t, []string{
			"get " + folderName,
			"list ClusterRole", "list ConfigMap east", "list ConfigMap shop", "list ServiceAccount east", "list ServiceAccount shop",
		}, cluster.take())
	})
	t.Run("a dry run says what would go and why, and changes nothing", func(t *testing.T) {
		before := cluster.memory.Objects()
		results, err := m.ApplySet(ctx, shop, first[:1], deploy.DryRun())
		require.NoError(t, err)
		_, pruned := actionsOf(results)
		assert.Equal(t, []string{"ClusterRole c deleted", "ServiceAccount east/b deleted"}, pruned)
		assert.Equal(t, "it is in the set and not among its objects any more", results.Pruned[0].Reason)
		assert.Equal(t, before, cluster.memory.Objects())
		for _, call := range cluster.take() {
			assert.True(t, strings.HasSuffix(call, "dry-run") || strings.HasPrefix(call, "get") || strings.HasPrefix(call, "list"), call)
		}
	})
	t.Run("what has gone from the objects is deleted, and then from the parent", func(t *testing.T) {
		second := objects(first[0], item(t, "ConfigMap", "west", "d"))
		results, err := m.ApplySet(ctx, shop, second)
		require.NoError(t, err)
		_, pruned := actionsOf(results)
		assert.Equal(t, []string{"ClusterRole c deleted", "ServiceAccount east/b deleted"}, pruned)
		calls := cluster.take()
		assert.Equal(t, []string{"get " + folderName, "apply " + folderName + " as shopkeeper-applyset of ClusterRole.rbac.authorization.k8s.io,ConfigMap,ServiceAccount", "apply ConfigMap west/d"}, calls[:3])
		assert.Equal(t, []string{"delete ClusterRole c", "delete ServiceAccount east/b", "apply " + folderName + " as shopkeeper-applyset of ConfigMap"}, calls[len(calls)-3:])
		assert.Equal(t, []string{"ConfigMap", "west"}, cluster.remembered(t, folder))
		assert.NotNil(t, cluster.get(t, deploy.Ref{Kind: configMap, Namespace: "shop", Name: "foreign"}))
	})
	t.Run("the empty set must be meant", func(t *testing.T) {
		cluster.take()
		_, err := m.ApplySet(ctx, shop, nil)
		var invalid *deploy.InvalidSetError
		require.ErrorAs(t, err, &invalid)
		assert.Empty(t, cluster.take())
		all := shop
		all.PruneAll = true
		results, err := m.ApplySet(ctx, all, nil)
		require.NoError(t, err)
		_, pruned := actionsOf(results)
		assert.Equal(t, []string{"ConfigMap shop/a deleted", "ConfigMap west/d deleted"}, pruned)
		assert.Equal(t, []string{"", ""}, cluster.remembered(t, folder))
		assert.NotNil(t, cluster.get(t, deploy.Ref{Kind: configMap, Namespace: "shop", Name: "foreign"}))
	})
}

func TestApplySetPrunesNothingUnlessAllWasApplied(t *testing.T) {
	t.Parallel()
	unknown := object(t, "{apiVersion: shop.example.com/v1, kind: Unknown, metadata: {name: a, namespace: shop}}")
	nameless := item(t, "ConfigMap", "shop", "a")
	nameless.SetName("")
	for name, test := range map[string]struct {
		bad  *unstructured.Unstructured
		fail string
	}{
		"an object that can't be one": {nameless, ""},
		"a kind that isn't served":    {unknown, ""},
		"a refused object":            {item(t, "ConfigMap", "shop", "b"), "apply ConfigMap shop/b"},
		"a read that fails":           {item(t, "ConfigMap", "shop", "b"), "view ConfigMap shop/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newSetCluster(t)
			m := must(deploy.NewManager(cluster))
			_, err := m.ApplySet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "a"), item(t, "ServiceAccount", "shop", "old")))
			require.NoError(t, err)
			cluster.take()
			cluster.before = failing(test.fail+"\x00", nil)
			if test.fail != "" {
				cluster.before = failing(test.fail, errNo)
			}
			results, err := m.ApplySet(t.Context(), shop, objects(test.bad, item(t, "ConfigMap", "shop", "c")))
			require.Error(t, err)
			assert.Empty(t, results.Pruned)
			assert.NotNil(t, cluster.get(t, deploy.Ref{Kind: configMap, Namespace: "shop", Name: "c"}), "the others are applied")
			assert.NotNil(t, cluster.get(t, deploy.Ref{Kind: configMap, Namespace: "shop", Name: "a"}))
			assert.Contains(t, cluster.remembered(t, folder)[0], "ServiceAccount")
			for _, call := range cluster.take() {
				assert.False(t, strings.HasPrefix(call, "delete") || strings.HasPrefix(call, "list"), call)
			}
		})
	}
}

func TestApplySetParent(t *testing.T) {
	t.Parallel()
	with := func(obj *unstructured.Unstructured, id, tooling, kinds string) *unstructured.Unstructured {
		if id != "" {
			obj.SetLabels(map[string]string{deploy.SetIDLabel: id})
		}
		annotations := map[string]string{deploy.SetToolingAnnotation: tooling, deploy.SetKindsAnnotation: kinds}
		maps.DeleteFunc(annotations, func(_, value string) bool { return value == "" })
		obj.SetAnnotations(annotations)
		return obj
	}
	parent := func() *unstructured.Unstructured { return item(t, "Secret", "shop", "folder") }
	terminating := with(parent(), shop.ID(), "operkit/v1", "ConfigMap")
	terminating.SetFinalizers([]string{"shop/hold"})
	adopting := shop
	adopting.Adopt = true
	for name, test := range map[string]struct {
		live *unstructured.Unstructured
		set  deploy.ApplySet
		want any
	}{
		"of another tool":                         {with(parent(), shop.ID(), "kubectl/v1.36", "ConfigMap"), shop, new(*deploy.OwnedError)},
		"of another tool, adoption or not":        {with(parent(), shop.ID(), "kubectl/v1.36", "ConfigMap"), adopting, new(*deploy.OwnedError)},
		"of another version of the tool":          {with(parent(), shop.ID(), "operkit/v0.1", "ConfigMap"), shop, nil},
		"no parent":                               {parent(), shop, new(*deploy.OwnedError)},
		"no parent, to be adopted":                {parent(), adopting, nil},
		"without tooling":                         {with(parent(), shop.ID(), "", "ConfigMap"), shop, new(*deploy.OwnedError)},
		"without id":                              {with(parent(), "", "operkit/v1", "ConfigMap"), shop, new(*deploy.OwnedError)},
		"without id, to be adopted":               {with(parent(), "", "operkit/v1", "ConfigMap"), adopting, nil},
		"copied":                                  {with(parent(), "applyset-x-v1", "operkit/v1", "ConfigMap"), shop, new(*deploy.InvalidSetError)},
		"copied, adoption or not":                 {with(parent(), "applyset-x-v1", "operkit/v1", "ConfigMap"), adopting, new(*deploy.InvalidSetError)},
		"that doesn't remember":                   {with(parent(), shop.ID(), "operkit/v1", ""), shop, new(*deploy.InvalidSetError)},
		"that is being deleted":                   {terminating, shop, new(*deploy.TerminatingError)},
		"of another kind that is absent":          {nil, deploy.ApplySet{Parent: deploy.Ref{Kind: deployment, Namespace: "shop", Name: "x"}}, new(*deploy.NotFoundError)},
		"without a name":                          {nil, deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop"}}, new(*deploy.InvalidManifestError)},
		"without a namespace":                     {nil, deploy.ApplySet{Parent: deploy.Ref{Name: "x"}}, new(*deploy.InvalidManifestError)},
		"tooling without a version":               {nil, deploy.ApplySet{Parent: shop.Parent, Tooling: "operkit"}, new(*deploy.InvalidSetError)},
		"tooling without a name":                  {nil, deploy.ApplySet{Parent: shop.Parent, Tooling: "/v1"}, new(*deploy.InvalidSetError)},
		"tooling with an empty version":           {nil, deploy.ApplySet{Parent: shop.Parent, Tooling: "operkit/"}, new(*deploy.InvalidSetError)},
		"a ConfigMap":                             {nil, deploy.ApplySet{Parent: deploy.Ref{Kind: configMap, Namespace: "shop", Name: "x"}}, nil},
		"kubectl's: its tooling, and its set":     {with(parent(), shop.ID(), "kubectl/v1.36.3+$Format:%H$", "ConfigMap"), deploy.ApplySet{Parent: shop.Parent, Tooling: "kubectl/v1.36.3"}, nil},
		"an object of another kind as the parent": {item(t, "ServiceAccount", "shop", "x"), deploy.ApplySet{Parent: deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, Namespace: "shop", Name: "x"}, Adopt: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newSetCluster(t)
			if test.live != nil {
				cluster = newSetCluster(t, test.live)
				if test.live == terminating {
					require.NoError(t, cluster.memory.Port().Delete(t.Context(), folder, deploy.DeleteOptions{}))
				}
			}
			before := cluster.memory.Objects()
			results, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), test.set, objects(item(t, "ConfigMap", "shop", "a")))
			if test.want == nil {
				require.NoError(t, err)
				assert.Len(t, results.Applied, 1)
				return
			}
			require.ErrorAs(t, err, test.want)
			assert.Empty(t, results.Applied)
			assert.Equal(t, before, cluster.memory.Objects(), "nothing was changed")
			assert.LessOrEqual(t, len(cluster.take()), 1)
		})
	}
}

func TestApplySetObjects(t *testing.T) {
	t.Parallel()
	labels := item(t, "ConfigMap", "shop", "a")
	labels.Object["metadata"].(map[string]any)["labels"] = map[string]any{"a": int64(1)}
	for name, obj := range map[string]*unstructured.Unstructured{
		"the parent itself":        item(t, "Secret", "shop", "folder"),
		"labelled for another set": inSet(item(t, "ConfigMap", "shop", "a"), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "other"}}),
		"labels that are none":     labels,
		"nil":                      nil,
		"empty":                    {},
		"no JSON":                  {Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "shop"}, "data": make(chan int)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newSetCluster(t)
			_, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "ok"), obj))
			var invalid *deploy.InvalidManifestError
			require.ErrorAs(t, err, &invalid)
			assert.Empty(t, cluster.take())
		})
	}
	t.Run("labelled for this set", func(t *testing.T) {
		t.Parallel()
		cluster := newSetCluster(t)
		_, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, objects(inSet(item(t, "ConfigMap", "shop", "a"), shop)))
		require.NoError(t, err)
	})
	t.Run("a member of another set is left to it", func(t *testing.T) {
		t.Parallel()
		theirs := inSet(item(t, "ConfigMap", "shop", "a"), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "other"}})
		cluster := newSetCluster(t, theirs)
		before := cluster.get(t, deploy.RefOf(theirs))
		results, err := must(deploy.NewManager(cluster, deploy.Conflicts(deploy.Force))).ApplySet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "a")))
		var owned *deploy.OwnedError
		require.ErrorAs(t, err, &owned)
		assert.Contains(t, owned.Error(), "belongs to the ApplySet applyset-")
		applied, _ := actionsOf(results)
		assert.Equal(t, []string{"ConfigMap shop/a conflict"}, applied)
		assert.Equal(t, before, cluster.get(t, deploy.RefOf(theirs)))
	})
	t.Run("an object that another set creates first is left to it", func(t *testing.T) {
		t.Parallel()
		theirs := inSet(item(t, "ConfigMap", "shop", "a"), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "other"}})
		cluster := newSetCluster(t)
		cluster.before = func(call string) error {
			if strings.HasPrefix(call, "create ConfigMap shop/a") {
				cluster.put(t, theirs)
			}
			return nil
		}
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.CreateOnly)))
		results, err := m.ApplySet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "a")))
		var owned *deploy.OwnedError
		require.ErrorAs(t, err, &owned)
		applied, _ := actionsOf(results)
		assert.Equal(t, []string{"ConfigMap shop/a conflict"}, applied)
	})
	t.Run("the owner's namespace counts", func(t *testing.T) {
		t.Parallel()
		cluster := newSetCluster(t)
		obj := item(t, "ConfigMap", "", "a")
		_, err := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))).ApplySet(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Name: "folder"}}, objects(obj))
		require.NoError(t, err)
		assert.Equal(t, []string{"ConfigMap", ""}, cluster.remembered(t, folder))
	})
	t.Run("a namespace that comes with the set, for the parent too", func(t *testing.T) {
		t.Parallel()
		cluster := setClusterOf(t)
		results, err := must(deploy.NewManager(cluster, deploy.Concurrency(1))).ApplySet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "a"), item(t, "Namespace", "", "shop")))
		require.NoError(t, err)
		applied, _ := actionsOf(results)
		assert.Equal(t, []string{"ConfigMap shop/a created", "Namespace shop created"}, applied)
		assert.Equal(t, []string{
			"get " + folderName, "create " + folderName + " as operkit-applyset of ConfigMap,Namespace", "apply Namespace shop",
			"create " + folderName + " as operkit-applyset of ConfigMap,Namespace", "apply Namespace shop", "apply ConfigMap shop/a",
		}, cluster.take()[:6])
	})
	t.Run("and in a dry run", func(t *testing.T) {
		t.Parallel()
		cluster := setClusterOf(t)
		before := cluster.memory.Objects()
		_, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), shop, objects(item(t, "Namespace", "", "shop")), deploy.DryRun())
		require.NoError(t, err)
		assert.Equal(t, before, cluster.memory.Objects())
	})
	t.Run("kind and resource of it in one go", func(t *testing.T) {
		t.Parallel()
		definition := object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: baskets.shop.example.com}
spec: {group: shop.example.com, scope: Namespaced, names: {kind: Basket, plural: baskets, singular: basket, listKind: BasketList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}`)
		resource := object(t, "{apiVersion: shop.example.com/v1, kind: Basket, metadata: {name: a, namespace: east}}")
		cluster := newSetCluster(t)
		m := must(deploy.NewManager(cluster))
		_, err := m.ApplySet(t.Context(), shop, objects(resource, definition))
		require.NoError(t, err)
		assert.Equal(t, []string{"Basket.shop.example.com,CustomResourceDefinition.apiextensions.k8s.io", "east"}, cluster.remembered(t, folder))
		results, err := m.ApplySet(t.Context(), shop, objects(definition))
		require.NoError(t, err)
		_, pruned := actionsOf(results)
		assert.Equal(t, []string{"Basket east/a deleted"}, pruned, "its kind is found without a manifest")
	})
}

func TestApplySetParentChangedMeanwhile(t *testing.T) {
	t.Parallel()
	// widened is what another process writes on the parent.
	widened := func(t *testing.T, cluster *setCluster, kinds string) {
		parent := item(t, "Secret", "shop", "folder")
		parent.SetLabels(map[string]string{deploy.SetIDLabel: shop.ID()})
		parent.SetAnnotations(map[string]string{deploy.SetToolingAnnotation: "operkit/v1", deploy.SetKindsAnnotation: kinds, deploy.SetNamespacesAnnotation: ""})
		_, err := cluster.memory.Port().Apply(t.Context(), parent, deploy.ApplyOptions{FieldManager: "operkit-applyset", Force: true})
		require.NoError(t, err)
	}
	for name, test := range map[string]struct {
		// when is the call ahead of which the other process writes, kinds what.
		when, kinds string
		start       []*unstructured.Unstructured
		want        string
	}{
		"created by another process":    {"create", "ServiceAccount", nil, "apply of ConfigMap,ServiceAccount"},
		"widened before we widen":       {"apply " + folderName, "Secret,ServiceAccount", objects(item(t, "Secret", "shop", "x")), "apply of ConfigMap,Secret,ServiceAccount"},
		"widened before we shrink":      {"delete", "ConfigMap,Secret,ServiceAccount", objects(item(t, "Secret", "shop", "x")), "ConfigMap,Secret,ServiceAccount"},
		"changed otherwise before that": {"delete", "label", objects(item(t, "Secret", "shop", "x")), "ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newSetCluster(t)
			m := must(deploy.NewManager(cluster))
			if test.start != nil {
				_, err := m.ApplySet(t.Context(), shop, test.start)
				require.NoError(t, err)
			}
			done := false
			cluster.before = func(call string) error {
				if done || !strings.HasPrefix(call, test.when) {
					return nil
				}
				done = true
				if test.kinds == "label" {
					_, err := cluster.memory.Port().Patch(t.Context(), folder, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"labels":{"x":"y"}}}`), FieldManager: "x"})
					return err
				}
				widened(t, cluster, test.kinds)
				return nil
			}
			_, err := m.ApplySet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "a")))
			require.NoError(t, err)
			require.True(t, done)
			if kinds, union := strings.CutPrefix(test.want, "apply of "); union {
				assert.Contains(t, cluster.take(), "apply "+folderName+" as operkit-applyset of "+kinds, "what the other process wrote stays, beside ours")
				return
			}
			assert.Equal(t, test.want, cluster.remembered(t, folder)[0])
		})
	}
	t.Run("it never rests", func(t *testing.T) {
		t.Parallel()
		cluster := newSetCluster(t)
		m := must(deploy.NewManager(cluster))
		_, err := m.ApplySet(t.Context(), shop, objects(item(t, "ConfigMap", "shop", "a")))
		require.NoError(t, err)
		cluster.take()
		cluster.before = failing("apply "+folderName, slices.Repeat([]error{&deploy.StaleError{Ref: folder, Err: errNo}}, 100)...)
		_, err = m.ApplySet(t.Context(), shop, objects(item(t, "Secret", "shop", "b")))
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
		assert.Len(t, cluster.take(), 10)
	})
}

func TestApplySetRefusesDuplicatesFirst(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	_, err := must(deploy.NewManager(cluster)).ApplySet(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "set"}},
		objects(settings(t, "{}"), settings(t, "{}")))
	require.EqualError(t, err, "ConfigMap shop/settings: invalid manifest: it is given twice in one set")
	assert.Empty(t, cluster.take(), "the parent isn't written either")
}

// What a group serves that is down can't be known: a kind of its isn't taken off the parent, or its members would
// never be found again.
func TestApplySetWithAGroupThatIsDown(t *testing.T) {
	t.Parallel()
	parent := deploy.Ref{Namespace: "shop", Name: "set"}
	cluster := newCluster(t)
	m := must(deploy.NewManager(downCluster{cluster}, deploy.RetryFor(0)))
	_, err := m.ApplySet(t.Context(), deploy.ApplySet{Parent: parent}, objects(settings(t, "{}")))
	require.NoError(t, err)
	at := deploy.Ref{Kind: secret, Namespace: "shop", Name: "set"}
	cluster.edit(t, at, `{"metadata":{"annotations":{"`+deploy.SetKindsAnnotation+`":"ConfigMap,Widget.down.example.com"}}}`)

	_, err = m.ApplySet(t.Context(), deploy.ApplySet{Parent: parent}, objects(settings(t, "{}")))
	var unavailable *deploy.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	assert.Contains(t, cluster.get(t, at).GetAnnotations()[deploy.SetKindsAnnotation], "Widget.down.example.com")
}

// downCluster knows a kind Widget of one group; whether another has one too it can't tell.
type downCluster struct{ *recording }

func (c downCluster) Port() deploy.Port { return downPort{c.recording.Port()} }

type downPort struct{ deploy.Port }

func (downPort) Kinds(_ context.Context, name string) ([]schema.GroupVersionKind, error) {
	return []schema.GroupVersionKind{{Group: "other.example.com", Version: "v1", Kind: name}},
		&deploy.UnavailableError{Err: errNo}
}

// The namespace of an object whose kind comes with the set is on the parent from the start.
func TestApplySetKnowsWhereNewKindsGo(t *testing.T) {
	t.Parallel()
	widget := object(t, "{apiVersion: down.example.com/v1, kind: Unknown, metadata: {name: w}}")
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.DefaultNamespace("shop")))
	_, err := m.ApplySet(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Namespace: "ops", Name: "set"}}, objects(widget))
	require.Error(t, err, "the cluster doesn't serve it")
	parent := cluster.get(t, deploy.Ref{Kind: secret, Namespace: "ops", Name: "set"})
	assert.Equal(t, "shop", parent.GetAnnotations()[deploy.SetNamespacesAnnotation])
}
