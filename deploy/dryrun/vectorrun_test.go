package dryrun_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// vectorRun plays a case on a cluster in memory.
type vectorRun struct {
	t       *testing.T
	cluster *dryrun.Cluster
	manager *deploy.Manager
	owner   *unstructured.Unstructured
	kinds   []schema.GroupVersionKind
	saved   map[string][]map[string]any
	tokens  map[string]string
	events  *vectorEvents
	stop    context.CancelFunc
	ctx     context.Context
}

func newVectorRun(t *testing.T, c *vectorCase) *vectorRun {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &vectorRun{t: t, saved: map[string][]map[string]any{}, tokens: map[string]string{}, events: &vectorEvents{}, ctx: ctx, stop: stop}
	kinds, clusterScoped := vectorKinds(c)
	r.kinds = kinds
	options := []dryrun.Option{dryrun.AnyKind(clusterScoped...)}
	for _, content := range c.Input.Init.Resources {
		options = append(options, dryrun.Objects(&unstructured.Unstructured{Object: plainContent(t, content)}))
	}
	cluster, err := dryrun.New(options...)
	require.NoError(t, err)
	r.cluster = cluster
	r.manager, err = deploy.NewManager(cluster)
	require.NoError(t, err)
	if c.Input.Init.Owner != nil {
		r.owner = &unstructured.Unstructured{Object: plainContent(t, c.Input.Init.Owner)}
	}
	return r
}

// vectorKinds returns the kinds of a case, and those of them whose objects are in no namespace.
func vectorKinds(c *vectorCase) (kinds []schema.GroupVersionKind, clusterScoped []schema.GroupKind) {
	namespaced := map[schema.GroupKind]bool{}
	add := func(content map[string]any) {
		obj := unstructured.Unstructured{Object: content}
		kind := obj.GroupVersionKind()
		if kind.Kind == "" || kind.Version == "" {
			return
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		namespaced[kind.GroupKind()] = namespaced[kind.GroupKind()] || obj.GetNamespace() != ""
	}
	for _, content := range c.Input.Init.Resources {
		add(content)
	}
	for _, op := range c.Input.Ops {
		for _, content := range op.Objects {
			add(content)
		}
	}
	for kind, is := range namespaced {
		if !is {
			clusterScoped = append(clusterScoped, kind)
		}
	}
	return kinds, clusterScoped
}

func plainContent(t *testing.T, content map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(content)
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	if obj.UnmarshalJSON(text) != nil {
		return content
	}
	return obj.Object
}

func (r *vectorRun) end() {
	r.stop()
	r.cluster.Wait()
}

func (r *vectorRun) do(op vectorOp) any {
	switch op.Op {
	case "deploy":
		return r.each(op, r.deploy)
	case "disable":
		return r.each(op, func(_ vectorOp, obj *unstructured.Unstructured) (bool, error) { return r.disable(obj) })
	case "set_status":
		return r.setStatus(op)
	case "get":
		return r.get(op)
	case "filter":
		return r.filter(op)
	case "mutate_ref":
		for _, object := range r.saved[op.Ref] {
			object["data"] = op.Data
		}
		return nil
	case "watch", "finalizer":
		r.watch(op)
		return nil
	case "events":
		synctest.Wait()
		return r.events.take()
	}
	r.t.Fatalf("operation %q: unknown", op.Op)
	return nil
}

// each does something to each object until one fails (spec: deploy 3).
func (r *vectorRun) each(op vectorOp, do func(vectorOp, *unstructured.Unstructured) (bool, error)) any {
	anything := false
	for _, content := range op.objects(r.saved) {
		obj := &unstructured.Unstructured{Object: plainContent(r.t, content)}
		before := obj.DeepCopy()
		changed, err := do(op, obj)
		require.Equal(r.t, before, obj, "deploy W11: inputs aren't changed")
		if err != nil {
			return failedResult
		}
		anything = anything || changed
	}
	return []any{true, anything}
}

func (r *vectorRun) deploy(op vectorOp, obj *unstructured.Unstructured) (bool, error) {
	if r.owner != nil && op.managesOwners() {
		results, err := r.manager.Apply(r.ctx, []*unstructured.Unstructured{obj},
			deploy.OwnedBy(r.owner), deploy.Adopt(deploy.AdoptAlways), deploy.OwnedByLabel())
		return results.Changed(), err
	}
	port := r.cluster.Port()
	before, _ := port.Get(r.ctx, deploy.RefOf(obj))
	if op.Method == "update" && before != nil {
		obj = &unstructured.Unstructured{Object: deepMerged(intentOf(before.Object), obj.Object)}
	}
	applied, err := port.Apply(r.ctx, obj, deploy.ApplyOptions{FieldManager: "operkit", Force: true})
	if err != nil {
		return false, err
	}
	return before == nil || before.GetResourceVersion() != applied.Object.GetResourceVersion(), nil
}

func (r *vectorRun) disable(obj *unstructured.Unstructured) (bool, error) {
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" || obj.GetName() == "" {
		return false, &deploy.InvalidManifestError{Ref: deploy.RefOf(obj)}
	}
	before, _ := r.cluster.Port().Get(r.ctx, deploy.RefOf(obj))
	if before == nil {
		return false, nil
	}
	if err := r.cluster.Port().Delete(r.ctx, deploy.RefOf(obj), deploy.DeleteOptions{UID: before.GetUID()}); err != nil {
		return false, err
	}
	after, _ := r.cluster.Port().Get(r.ctx, deploy.RefOf(obj))
	return after == nil || after.GetResourceVersion() != before.GetResourceVersion(), nil
}

func (r *vectorRun) setStatus(op vectorOp) any {
	ref, ok := r.find(op)
	if !ok {
		return failedResult
	}
	result, err := r.manager.SetStatus(r.ctx, ref, func(*unstructured.Unstructured) (map[string]any, error) {
		return plainContent(r.t, op.Status), nil
	})
	if err != nil {
		return failedResult
	}
	return []any{true, result.Action != deploy.Unchanged}
}

// find returns the object that an operation names, if exactly one version has it (spec: deploy 34).
func (r *vectorRun) find(op vectorOp) (deploy.Ref, bool) {
	var found []deploy.Ref
	for _, kind := range r.called(op) {
		ref := deploy.Ref{Kind: kind, Namespace: op.Namespace, Name: op.Name}
		if obj, err := r.cluster.View().Get(r.ctx, ref); err == nil && obj != nil {
			found = append(found, ref)
		}
	}
	if len(found) != 1 {
		return deploy.Ref{}, false
	}
	return found[0], true
}

func (r *vectorRun) called(op vectorOp) []schema.GroupVersionKind {
	if op.Kind == "" {
		return nil
	}
	if op.APIVersion != "" {
		return []schema.GroupVersionKind{schema.FromAPIVersionAndKind(op.APIVersion, op.Kind)}
	}
	return slices.DeleteFunc(slices.Clone(r.kinds), func(kind schema.GroupVersionKind) bool { return kind.Kind != op.Kind })
}

func (r *vectorRun) get(op vectorOp) any {
	ref, ok := r.find(op)
	if !ok {
		return nil
	}
	obj, err := r.cluster.View().Get(r.ctx, ref)
	require.NoError(r.t, err)
	return r.tidied(obj.DeepCopy())
}

// tidied is an object as the cases show objects, without what only a real server has.
func (r *vectorRun) tidied(obj *unstructured.Unstructured) any {
	unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(obj.Object, "metadata", "generation")
	for _, at := range []string{"annotations", "labels"} {
		marks, _, _ := unstructured.NestedStringMap(obj.Object, "metadata", at)
		maps.DeleteFunc(marks, func(key, _ string) bool { return strings.HasPrefix(key, deploy.Domain+"/") })
		if marks != nil {
			require.NoError(r.t, unstructured.SetNestedStringMap(obj.Object, marks, "metadata", at))
		}
	}
	metadata := obj.Object["metadata"].(map[string]any)
	metadata["uid"] = token(r.tokens, string(obj.GetUID()))
	metadata["resourceVersion"] = "<RV>"
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		if metadata[name] != nil {
			metadata[name] = "<NOW>"
		}
	}
	return tidyObject(obj.Object)
}

// token numbers uids in the order in which they are seen.
func token(tokens map[string]string, uid string) string {
	if tokens[uid] == "" {
		tokens[uid] = fmt.Sprintf("<UID-%d>", len(tokens)+1)
	}
	return tokens[uid]
}

func (r *vectorRun) filter(op vectorOp) any {
	byLabel, err := labels.Parse(op.LabelSelector)
	if err != nil {
		return failedResult
	}
	byField, err := fields.ParseSelector(op.FieldSelector)
	if err != nil {
		return failedResult
	}
	names := map[string]bool{}
	for _, kind := range r.called(op) {
		objects, err := requests(r.cluster).List(r.ctx, kind, op.Namespace, deploy.ListOptions{Labels: byLabel, Fields: byField})
		require.NoError(r.t, err)
		for _, obj := range objects {
			names[obj.GetName()] = true
		}
	}
	result := []any{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		result = append(result, name)
	}
	return result
}

// watch registers for what the case calls callbacks (spec: deploy 31-33).
func (r *vectorRun) watch(op vectorOp) {
	kind := schema.FromAPIVersionAndKind(op.APIVersion, op.Kind)
	current, err := requests(r.cluster).List(r.ctx, kind, "", deploy.ListOptions{})
	require.NoError(r.t, err)
	known := map[string]string{}
	for _, obj := range current {
		known[string(obj.GetUID())] = obj.GetResourceVersion()
	}
	_, err = r.cluster.Watch(r.ctx, kind, dryrun.WatchOptions{}, func(event deploy.Event) {
		if known[string(event.New.GetUID())] != event.New.GetResourceVersion() {
			r.events.note(op, event)
		}
	})
	require.NoError(r.t, err)
	synctest.Wait()
}

// deepMerged is what a deploy by the method update makes: maps merged, all else replaced.
func deepMerged(live, manifest map[string]any) map[string]any {
	merged := runtime.DeepCopyJSON(live)
	for key, value := range manifest {
		below, isMap := value.(map[string]any)
		before, wasMap := merged[key].(map[string]any)
		if isMap && wasMap {
			merged[key] = deepMerged(before, below)
		} else {
			merged[key] = runtime.DeepCopyJSONValue(value)
		}
	}
	return merged
}

// intentOf is an object without what is the server's.
func intentOf(content map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(content)
	delete(out, "status")
	metadata, _ := out["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(metadata, name)
	}
	return out
}
