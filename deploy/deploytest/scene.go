package deploytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

// patience is how long a case waits for asynchronous work of the cluster, such as garbage collection. After a new kind
// is defined, a controller may take a minute to discover it.
const patience = 2 * time.Minute

// tester is the part of *testing.T that a case uses.
type tester interface {
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Helper()
}

// scene is one run of a case.
type scene struct {
	tester
	World
	patience time.Duration
}

func (s *scene) port() deploy.Port { return s.Cluster.Port() }

// others returns a copy of the scene that uses the other client of the cluster.
func (s *scene) others() *scene {
	other := *s
	other.Cluster = s.Others
	return &other
}

// ok ends the case when err isn't nil.
func (s *scene) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v (%T)", err, err)
	}
}

// is fails the case with a message unless condition is true.
func (s *scene) is(condition bool, format string, args ...any) {
	s.Helper()
	if !condition {
		s.Errorf(format, args...)
	}
}

// lacks fails the case when content has field.
func (s *scene) lacks(content map[string]any, field string) {
	s.Helper()
	value, found := content[field]
	s.is(!found, "%s: %v", field, value)
}

// equal fails the case when got differs from want.
func equal[T any](s *scene, want, got T, what string) {
	s.Helper()
	if !reflect.DeepEqual(want, got) {
		s.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// held returns the part of an object's content that every View shows. In managedFields, a View may leave out the
// entries of the status subresource, except for those of applies, and the times of entries that own more than metadata.
func held(obj *unstructured.Unstructured) map[string]any {
	obj = obj.DeepCopy()
	var entries []metav1.ManagedFieldsEntry
	for _, entry := range obj.GetManagedFields() {
		if entry.Subresource != "status" || entry.Operation == metav1.ManagedFieldsOperationApply {
			if entry.FieldsV1 != nil && !marks(entry.FieldsV1.GetRawBytes()) {
				entry.Time = nil
			}
			entries = append(entries, entry)
		}
	}
	obj.SetManagedFields(entries)
	return obj.Object
}

// marks reports whether an entry owns only metadata.
func marks(fields []byte) bool {
	var content map[string]any
	return json.Unmarshal(fields, &content) == nil && len(content) == 1 && content["f:metadata"] != nil
}

// fails ends the case when err isn't an E.
func fails[E error](s *scene, err error) E {
	s.Helper()
	var want E
	if !errors.As(err, &want) {
		s.Fatalf("error is a %T, want a %T: %v", err, want, err)
	}
	return want
}

// isA reports whether an error in the tree of err is an E.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// asOperkit and dryAsOperkit are the options of most applies.
var (
	asOperkit    = deploy.ApplyOptions{FieldManager: "operkit"}
	dryAsOperkit = deploy.ApplyOptions{FieldManager: "operkit", DryRun: true}
)

// refusal sends obj by a method of a Port, and returns the error. It ends the case when the error isn't an E.
func refusal[E error, O, R any](
	s *scene, send func(context.Context, *unstructured.Unstructured, O) (R, error),
	obj *unstructured.Unstructured, options O,
) E {
	s.Helper()
	_, err := send(s.Context(), obj, options)
	return fails[E](s, err)
}

// eventually waits until condition holds.
func (s *scene) eventually(condition func() bool, what string) {
	s.Helper()
	for begun := time.Now(); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > s.patience {
			s.Fatalf("timed out after %s waiting until %s", s.patience, what)
		}
	}
}

// object parses a manifest and sets the namespace of the case.
func (s *scene) object(text string) *unstructured.Unstructured {
	s.Helper()
	obj := s.unplaced(text)
	obj.SetNamespace(s.Namespace)
	return obj
}

// unplaced parses a manifest, and leaves its namespace as it is.
func (s *scene) unplaced(text string) *unstructured.Unstructured {
	s.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	s.ok(err)
	obj := &unstructured.Unstructured{}
	s.ok(obj.UnmarshalJSON(content))
	return obj
}

// settings returns a ConfigMap with the given data, such as "{a: '1'}".
func (s *scene) settings(data string) *unstructured.Unstructured {
	s.Helper()
	return s.config("settings", data)
}

// bare returns the ConfigMap settings without data.
func (s *scene) bare() *unstructured.Unstructured {
	s.Helper()
	return s.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
}

func (s *scene) config(name, data string) *unstructured.Unstructured {
	s.Helper()
	return s.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}, data: " + data + "}")
}

// finalized returns obj with a finalizer.
func finalized(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj.SetFinalizers([]string{"operkit.dev/a"})
	return obj
}

// labelled returns obj with a label.
func labelled(obj *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	obj.SetLabels(map[string]string{key: value})
	return obj
}

// in returns obj in another namespace.
func in(namespace string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj.SetNamespace(namespace)
	return obj
}

// create creates an object as manager.
func (s *scene) create(manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	created, err := s.port().Create(s.Context(), obj, deploy.CreateOptions{FieldManager: manager})
	s.ok(err)
	return created
}

// apply applies an intent as manager.
func (s *scene) apply(manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	return s.send(obj, deploy.ApplyOptions{FieldManager: manager})
}

// force applies an intent as manager and takes over fields of others.
func (s *scene) force(manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	return s.send(obj, deploy.ApplyOptions{FieldManager: manager, Force: true})
}

// send applies an intent. If the response is only metadata, it reads the object.
func (s *scene) send(obj *unstructured.Unstructured, options deploy.ApplyOptions) *unstructured.Unstructured {
	s.Helper()
	applied, err := s.port().Apply(s.Context(), obj, options)
	s.ok(err)
	if applied.Partial {
		return s.get(deploy.RefOf(applied.Object))
	}
	return applied.Object
}

// merge patches an object as manager.
func (s *scene) merge(manager string, ref deploy.Ref, body string) *unstructured.Unstructured {
	s.Helper()
	return s.patch(ref, merging(manager, body))
}

// patch sends a patch.
func (s *scene) patch(ref deploy.Ref, patch deploy.PatchRequest) *unstructured.Unstructured {
	s.Helper()
	patched, err := s.port().Patch(s.Context(), ref, patch)
	s.ok(err)
	return patched
}

func merging(manager, body string) deploy.PatchRequest {
	return deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: manager}
}

// get reads an object past any cache.
func (s *scene) get(ref deploy.Ref) *unstructured.Unstructured {
	s.Helper()
	obj, err := s.port().Get(s.Context(), ref)
	if err == nil && obj == nil {
		err = &deploy.NotFoundError{Ref: ref}
	}
	s.ok(err)
	return obj
}

// absent fails the case if the object exists.
func (s *scene) absent(ref deploy.Ref) {
	s.Helper()
	obj, err := s.port().Get(s.Context(), ref)
	s.ok(err)
	s.is(obj == nil, "%s: the object exists", ref)
}

func data(obj *unstructured.Unstructured) map[string]string {
	values, _, _ := unstructured.NestedStringMap(obj.Object, "data")
	return values
}

// each returns the results of calling convert for each item of a list, in the order of the list.
func each[T, U any](items []T, convert func(T) U) []U {
	all := make([]U, 0, len(items))
	for _, item := range items {
		all = append(all, convert(item))
	}
	return all
}

// names returns the names of objects, in their order.
func names(objects []*unstructured.Unstructured) []string {
	return each(objects, (*unstructured.Unstructured).GetName)
}

// owned returns the leaf fields of an entry of managedFields, ascending. It returns nil if there is no such entry. who
// names the entry: its manager and its operation, such as "operkit Apply", followed by the subresource if there is one.
func (s *scene) owned(obj *unstructured.Unstructured, who string) []string {
	s.Helper()
	for _, entry := range obj.GetManagedFields() {
		if whose(entry) != who {
			continue
		}
		set := &fieldpath.Set{}
		s.ok(set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())))
		paths := []string{}
		set.Leaves().Iterate(func(path fieldpath.Path) { paths = append(paths, path.String()) })
		slices.Sort(paths)
		return paths
	}
	return nil
}

// whose returns the manager and the operation of an entry, in the form in which owned expects them.
func whose(entry metav1.ManagedFieldsEntry) string {
	return strings.TrimSpace(entry.Manager + " " + string(entry.Operation) + " " + entry.Subresource)
}

// entries returns all entries of managedFields, ascending, in the form in which owned expects them.
func entries(obj *unstructured.Unstructured) []string {
	return slices.Sorted(slices.Values(each(obj.GetManagedFields(), whose)))
}

// unchanged fails the case if two states of an object have different resourceVersions.
func (s *scene) unchanged(before, after *unstructured.Unstructured) {
	s.Helper()
	equal(s, before.GetResourceVersion(), after.GetResourceVersion(), "resourceVersion of the unchanged object")
}

// changed fails the case if two states of an object have the same resourceVersion.
func (s *scene) changed(before, after *unstructured.Unstructured) {
	s.Helper()
	s.is(before.GetResourceVersion() != after.GetResourceVersion(), "resourceVersion is still %s", after.GetResourceVersion())
}
