package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var (
	// ours are the kinds that the operator may write, and with them all that it can leave behind.
	ours = []schema.GroupVersionKind{v1.GuestbookKind, secrets, services, configMaps, deployments, statefulSets, temporaryPatches}
	// followers are the kinds of what the cluster makes of them.
	followers = []schema.GroupVersionKind{
		{Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "ReplicaSet"},
		{Group: "apps", Version: "v1", Kind: "ControllerRevision"}, {Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
	}
)

// state is everything that there is of a guestbook, as YAML by kind and name: each object of ours
// whole, without what is another one in each namespace and at each time; of the cluster's how many there are.
func (w *world) state() map[string]string {
	w.t.Helper()
	state := map[string]string{}
	book := w.Get(v1.GuestbookKind, "hello")
	for _, kind := range ours {
		for _, obj := range w.List(kind) {
			if obj.GetName() != "kube-root-ca.crt" { // every namespace has it
				state[kind.Kind+" "+obj.GetName()] = w.timeless(obj, book)
			}
		}
	}
	for _, kind := range followers {
		count := map[string]int{}
		for _, obj := range w.List(kind) {
			if owner := controllerOf(obj); obj.GetDeletionTimestamp() == nil {
				count[kind.Kind+" of "+owner]++
			}
		}
		for what, n := range count {
			state[what] = fmt.Sprint(n)
		}
	}
	return state
}

func controllerOf(obj *unstructured.Unstructured) string {
	for _, owner := range obj.GetOwnerReferences() {
		return owner.Kind + " " + owner.Name
	}
	return "nobody"
}

// timeless is an object without uids, versions, times and whatever else is drawn by lot.
func (w *world) timeless(live, book *unstructured.Unstructured) string {
	w.t.Helper()
	obj := live.DeepCopy()
	metadata, _ := obj.Object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(metadata, field)
	}
	metadata["managers"] = managers(live)
	annotations := obj.GetAnnotations()
	for key := range annotations {
		if strings.HasPrefix(key, "operkit.dev/") { // of an intent with the owner's uid in it
			annotations[key] = "(hash)"
		}
	}
	obj.SetAnnotations(annotations)
	if spec, ok := obj.Object["spec"].(map[string]any); ok && live.GetKind() == "Service" && spec["clusterIP"] != "None" {
		spec["clusterIP"], spec["clusterIPs"] = "(an address)", nil
	}
	if data, ok := obj.Object["data"].(map[string]any); ok && live.GetKind() == "Secret" {
		for key, value := range data {
			data[key] = fmt.Sprintf("%d characters", len(value.(string)))
		}
	}
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		maps.DeleteFunc(c.(map[string]any), func(field string, _ any) bool { return strings.HasSuffix(field, "Time") })
	}
	if len(conditions) > 0 {
		require.NoError(w.t, unstructured.SetNestedSlice(obj.Object, conditions, "status", "conditions"))
	}
	document, err := yaml.Marshal(obj.Object)
	require.NoError(w.t, err)
	known := []string{w.Namespace, "(the namespace)"}
	if book != nil {
		known = append(known, string(book.GetUID()), "(the guestbook's uid)")
	}
	return strings.NewReplacer(known...).Replace(string(document))
}

// managers are who owns fields of an object; of the operator which ones, too.
func managers(obj *unstructured.Unstructured) []any {
	var names []string
	for _, entry := range obj.GetManagedFields() {
		name := fmt.Sprintf("%s %s %s", entry.Manager, entry.Operation, entry.Subresource)
		if entry.Manager == "guestbook-operator" && entry.FieldsV1 != nil {
			name += " " + entry.FieldsV1.GetRawString()
		}
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

// differences are the lines that only one of two states has.
func differences(want, got map[string]string) []string {
	var lines []string
	only := func(sign, object, have, other string) {
		others := strings.Split(other, "\n")
		for _, line := range strings.Split(have, "\n") {
			if !slices.Contains(others, line) {
				lines = append(lines, sign+object+": "+line)
			}
		}
	}
	for object := range want {
		only("- ", object, want[object], got[object])
	}
	for object := range got {
		only("+ ", object, got[object], want[object])
	}
	return lines
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	content, err := json.Marshal(value)
	require.NoError(t, err)
	return string(content)
}
