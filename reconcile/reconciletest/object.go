package reconciletest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
)

// FieldManager is the field manager of the test's own writes.
const FieldManager = "reconciletest"

// Apply applies objects, as kubectl would: custom resources, and other objects that the test needs. Each is a
// *unstructured.Unstructured, a map, an API struct with its TypeMeta, an apply configuration, or YAML text with one or
// more documents. Objects without a namespace get the namespace of the harness. If an object has a status, Apply writes
// it too: use that for objects that another controller makes ready.
func (h *Harness) Apply(objects ...any) {
	h.t.Helper()
	if err := h.TryApply(objects...); err != nil {
		h.t.Fatalf("reconciletest: apply: %v", err)
	}
}

// TryApply is Apply for objects that may be refused. It returns the first error, which wraps the error of package deploy
// and that of the API server.
func (h *Harness) TryApply(objects ...any) error {
	h.t.Helper()
	for i, given := range objects {
		converted, err := toObjects(given)
		if err != nil {
			return fmt.Errorf("object %d: %w", i+1, err)
		}
		for _, obj := range converted {
			if err := h.apply(h.t.Context(), obj); err != nil {
				return fmt.Errorf("object %d: %w", i+1, err)
			}
		}
	}
	return nil
}

// apply applies one object. It may keep obj.
func (h *Harness) apply(ctx context.Context, obj *unstructured.Unstructured) error {
	scope, err := h.cluster.Port().Scope(ctx, obj.GroupVersionKind())
	if err != nil {
		return err
	}
	if obj.GetNamespace() == "" && scope == deploy.Namespaced {
		obj.SetNamespace(h.options.namespace)
	}
	content, _ := obj.Object["status"].(map[string]any)
	delete(obj.Object, "status")
	ref := deploy.RefOf(obj)
	if _, err := h.cluster.Port().Apply(ctx, obj, deploy.ApplyOptions{FieldManager: FieldManager, Force: true}); err != nil {
		return err
	}
	h.applied[ref] = true
	if len(content) == 0 {
		return nil
	}
	return h.patch(ctx, ref, "status", content, FieldManager)
}

// patch merges content into the spec or the status of an object.
func (h *Harness) patch(ctx context.Context, ref deploy.Ref, field string, content map[string]any, by string) error {
	body, err := json.Marshal(map[string]any{field: content})
	if err != nil {
		return fmt.Errorf("%s: %s: %w", ref, field, err)
	}
	request := deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: by}
	if field == "status" {
		request.Subresource = field
	}
	_, err = h.cluster.Port().Patch(ctx, ref, request)
	return err
}

// Edit changes an object, named like "Deployment web" or "Shop other/tea", as somebody else would. Changes of the
// status are ignored, see SetStatus.
func (h *Harness) Edit(object string, change func(obj *unstructured.Unstructured)) {
	h.t.Helper()
	if err := h.TryEdit(object, change); err != nil {
		h.t.Fatalf("reconciletest: edit: %v", err)
	}
}

// TryEdit is Edit for a change that may be refused. The error wraps the error of package deploy and that of the API
// server.
func (h *Harness) TryEdit(object string, change func(obj *unstructured.Unstructured)) error {
	h.t.Helper()
	ref := h.find(object)
	for attempt := 0; ; attempt++ {
		live, err := h.cluster.Port().Get(h.t.Context(), ref)
		if err == nil && live == nil {
			err = &deploy.NotFoundError{Ref: ref}
		}
		if err != nil {
			return err
		}
		edited := live.DeepCopy()
		change(edited)
		_, err = h.cluster.Port().Update(h.t.Context(), edited, deploy.UpdateOptions{FieldManager: FieldManager})
		if failure.Is[*deploy.StaleError](err) && attempt < 5 { // controllers of a real cluster write too
			continue
		}
		return err
	}
}

// SetStatus merges fields into the status of an object, as the object's controller would. A nil value removes a field,
// and lists are replaced.
func (h *Harness) SetStatus(object string, fields map[string]any) {
	h.t.Helper()
	if err := h.patch(h.t.Context(), h.find(object), "status", fields, FieldManager); err != nil {
		h.t.Fatalf("reconciletest: set status: %v", err)
	}
}

// Delete deletes objects, as kubectl delete would without waiting.
func (h *Harness) Delete(objects ...string) {
	h.t.Helper()
	for _, object := range objects {
		if err := h.TryDelete(object); err != nil {
			h.t.Fatalf("reconciletest: delete: %v", err)
		}
	}
}

// TryDelete is Delete for an object whose deletion may be refused.
func (h *Harness) TryDelete(object string) error {
	h.t.Helper()
	return h.cluster.Port().Delete(h.t.Context(), h.find(object), deploy.DeleteOptions{})
}

// Get returns a copy of an object in the cluster, nil if there is none of that name.
func (h *Harness) Get(object string) *unstructured.Unstructured {
	h.t.Helper()
	obj, err := h.cluster.Port().Get(h.t.Context(), h.find(object))
	if err != nil {
		h.t.Fatalf("reconciletest: get: %v", err)
	}
	return obj
}

// Exists fails the test unless the cluster has all of these objects.
func (h *Harness) Exists(objects ...string) {
	h.t.Helper()
	for _, object := range objects {
		if h.Get(object) == nil {
			h.t.Errorf("%s: doesn't exist", object)
		}
	}
}

// Gone fails the test if the cluster has one of these objects, even if it is being deleted.
func (h *Harness) Gone(objects ...string) {
	h.t.Helper()
	for _, object := range objects {
		obj := h.Get(object)
		switch {
		case obj == nil:
		case obj.GetDeletionTimestamp() != nil:
			h.t.Errorf("%s: is being deleted, but kept by its finalizers %q", object, obj.GetFinalizers())
		default:
			h.t.Errorf("%s: still exists", object)
		}
	}
}

// Condition returns a condition of an object, such as status.ConditionReady of a resource. If the object has no
// condition of that type, it returns the zero condition.
func (h *Harness) Condition(object, conditionType string) metav1.Condition {
	h.t.Helper()
	obj := h.Get(object)
	if obj == nil {
		h.t.Fatalf("reconciletest: condition %s of %s: there is no such object", conditionType, object)
	}
	condition, _ := status.Conditions(obj).Get(conditionType)
	return condition
}

// Ready fails the test unless the condition Ready of all of these resources is True for their present generation.
func (h *Harness) Ready(objects ...string) {
	h.t.Helper()
	for _, object := range objects {
		obj := h.Get(object)
		if obj == nil {
			h.t.Errorf("%s: isn't ready: it doesn't exist", object)
			continue
		}
		ready, known := status.Conditions(obj).Get(status.ConditionReady)
		switch {
		case !known:
			h.t.Errorf("%s: isn't ready: it has no condition Ready", object)
		case ready.Status != metav1.ConditionTrue:
			text := fmt.Sprintf("%s: isn't ready: %s: %s", object, ready.Reason, ready.Message)
			if updating, known := status.Conditions(obj).Get(status.ConditionUpdating); known {
				text += fmt.Sprintf("; Updating: %s: %s", updating.Reason, updating.Message)
			}
			h.t.Errorf("%s", text)
		case ready.ObservedGeneration != 0 && ready.ObservedGeneration != obj.GetGeneration():
			h.t.Errorf("%s: isn't ready: its generation %d isn't reconciled yet, the latest reconciled generation is %d", object, obj.GetGeneration(), ready.ObservedGeneration)
		}
	}
}

// find returns the object of a name.
func (h *Harness) find(object string) deploy.Ref {
	h.t.Helper()
	ref, err := h.resolve(object)
	if err != nil {
		h.t.Fatalf("reconciletest: %v", err)
	}
	return ref
}

func (h *Harness) resolve(object string) (deploy.Ref, error) {
	n, err := parseName(object)
	if err != nil {
		return deploy.Ref{}, err
	}
	if n.sub != "" {
		return deploy.Ref{}, fmt.Errorf("%q: names a subresource, but an object is needed", object)
	}
	kind, err := h.kindOf(n)
	if err != nil {
		return deploy.Ref{}, fmt.Errorf("%q: %w", object, err)
	}
	ref := deploy.Ref{Kind: kind, Name: n.object, Namespace: n.namespace}
	scope, err := h.cluster.Port().Scope(h.t.Context(), kind)
	if err == nil && ref.Namespace == "" && scope == deploy.Namespaced {
		ref.Namespace = h.options.namespace
	}
	return ref, err
}

// kindOf returns the kind of a name. It looks first among the kinds of the test and its reconcilers.
func (h *Harness) kindOf(n name) (schema.GroupVersionKind, error) {
	kinds := h.events.known()
	means := func(kind schema.GroupVersionKind) bool { return n.meansKind(kind) }
	if !slices.ContainsFunc(kinds, means) {
		var err error
		if kinds, err = h.cluster.Port().Kinds(h.t.Context(), n.kind); err != nil {
			return schema.GroupVersionKind{}, err
		}
	}
	kinds = slices.DeleteFunc(kinds, func(kind schema.GroupVersionKind) bool { return !means(kind) })
	if len(kinds) == 0 {
		return schema.GroupVersionKind{}, fmt.Errorf("the cluster has no such kind")
	}
	first := kinds[0].GroupKind()
	isOther := func(kind schema.GroupVersionKind) bool { return kind.GroupKind() != first }
	switch used := h.versionOf(first); {
	case slices.ContainsFunc(kinds, isOther):
	case n.version != "":
		return first.WithVersion(n.version), nil
	case len(kinds) == 1 && used == "":
		return kinds[0], nil
	case used != "":
		return first.WithVersion(used), nil
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.String()
	}
	return schema.GroupVersionKind{}, fmt.Errorf("this can be %s: name the group too, as in Deployment.apps", joined(names))
}

// versionOf returns the version of a kind that a name without one means: that of its reconciler, or the hub of its
// converter. It is empty if there is neither.
func (h *Harness) versionOf(kind schema.GroupKind) string {
	for _, t := range h.tested {
		if t.kind.GroupKind() == kind {
			return t.kind.Version
		}
	}
	for _, converter := range h.options.converters {
		if converter != nil && converter.Kind() == kind {
			return converter.Versions()[0].Kind.Version
		}
	}
	return ""
}

var versionForm = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// name is the name of an object in tests: "Deployment web", "Deployment.apps shop/web",
// "Deployment.v1.apps web", and with a subresource "Shop tea status".
type name struct {
	kind, version, group   string
	anyGroup               bool
	namespace, object, sub string
}

func parseName(text string) (name, error) {
	parts := strings.Fields(text)
	if len(parts) < 2 || len(parts) > 3 {
		return name{}, fmt.Errorf(`%q: not a name of an object such as "Deployment web" or "Shop tea status"`, text)
	}
	n := name{object: parts[1]}
	var grouped bool
	n.kind, n.group, grouped = strings.Cut(parts[0], ".")
	n.anyGroup = !grouped
	if version, group, _ := strings.Cut(n.group, "."); versionForm.MatchString(version) {
		n.version, n.group = version, group
	}
	if namespace, object, ok := strings.Cut(parts[1], "/"); ok {
		n.namespace, n.object = namespace, object
	}
	if len(parts) == 3 {
		n.sub = parts[2]
	}
	if n.kind == "" || n.object == "" {
		return name{}, fmt.Errorf(`%q: not a name of an object such as "Deployment web" or "Shop tea status"`, text)
	}
	return n, nil
}

// means reports whether n names ref, in a harness with that namespace.
func (n name) means(ref deploy.Ref, namespace string) bool {
	namespace = cmp.Or(n.namespace, namespace)
	return n.object == ref.Name && (ref.Namespace == namespace || ref.Namespace == "" && n.namespace == "") && n.meansKind(ref.Kind)
}

func (n name) meansKind(kind schema.GroupVersionKind) bool {
	return n.kind == kind.Kind && (n.anyGroup || n.group == kind.Group)
}

// readManifests reads the objects of a file, or of the YAML and JSON files directly in a folder, by name.
func readManifests(path string) ([]*unstructured.Unstructured, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		files = nil
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) && !entry.IsDir() {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := toObjects(string(text))
		if err != nil && !errors.Is(err, render.ErrNoObject) {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// toObjects returns copies of the objects that a test has passed in one of the forms of Apply.
func toObjects(value any) ([]*unstructured.Unstructured, error) {
	if text, isText := value.(string); isText {
		objects, err := render.YAML(text)
		for _, obj := range objects {
			err = errors.Join(err, complete(obj))
		}
		return objects, err
	}
	obj, err := render.Object(value)
	if err != nil {
		return nil, err
	}
	obj = obj.DeepCopy()
	return []*unstructured.Unstructured{obj}, complete(obj)
}

// complete checks that an object has a kind, and drops an empty creationTimestamp, which generators write.
func complete(obj *unstructured.Unstructured) error {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	if created, ok := metadata["creationTimestamp"]; ok && created == nil {
		delete(metadata, "creationTimestamp")
	}
	_, err := render.Object(obj)
	return err
}

// yamlOf returns an object as YAML.
func yamlOf(obj *unstructured.Unstructured) (string, error) {
	var out bytes.Buffer
	encoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, nil, nil, serializer.SerializerOptions{Yaml: true})
	err := encoder.Encode(obj, &out)
	return out.String(), err
}
