package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secret     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	namespace  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	widget     = schema.GroupVersionKind{Group: "deploytest.operkit.dev", Version: "v1", Kind: "Widget"}
	nothing    = schema.GroupVersionKind{Group: "deploytest.operkit.dev", Version: "v1", Kind: "Nothing"}
)

const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.deploytest.operkit.dev}
spec:
  group: deploytest.operkit.dev
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget, shortNames: [dtw]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 0}
              color: {type: string}
              words: {type: array, items: {type: string}}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, count: {type: integer}}
          status:
            type: object
            properties:
              phase: {type: string}
              ready: {type: integer}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items: {type: object, required: [type], properties: {type: {type: string}, status: {type: string}}}
`

// widgets makes the cluster serve the kind Widget.
func (s *scene) widgets() {
	s.Helper()
	s.serve(widget, widgetDefinition)
}

// serve applies the definition of a kind, and waits until the cluster serves the kind.
func (s *scene) serve(kind schema.GroupVersionKind, definition string) {
	s.Helper()
	_, err := s.managerOf(s.Others, deploy.FieldManager("deploytest")).
		Apply(s.Context(), []*unstructured.Unstructured{s.unplaced(definition)})
	s.ok(err)
	s.eventually(func() bool {
		// Discovery returns a kind before its storage is ready.
		_, err := s.Others.View().List(s.Context(), kind, s.Namespace, nil)
		return err == nil
	}, "the kind "+kind.Kind+" is served")
	_, err = s.port().Scope(s.Context(), kind)
	s.ok(err)
}

// widget waits until the cluster serves the kind Widget, and returns a Widget with the given spec.
func (s *scene) widget(spec string) *unstructured.Unstructured {
	s.Helper()
	s.widgets()
	return s.object("{apiVersion: deploytest.operkit.dev/v1, kind: Widget, metadata: {name: one}, spec: " + spec + "}")
}

var kindCases = []Case{
	{"kinds/scope", "the scope decides whether objects are sent to a namespace", func(s *scene) {
		s.widgets()
		for kind, want := range map[schema.GroupVersionKind]deploy.Scope{
			configMap: deploy.Namespaced, deployment: deploy.Namespaced, widget: deploy.Namespaced, namespace: deploy.ClusterScoped,
		} {
			scope, err := s.port().Scope(s.Context(), kind)
			s.ok(err)
			equal(s, want, scope, "scope of "+kind.Kind)
		}
	}},
	{"kinds/unknown", "every method distinguishes an unknown kind from an absent object", unknownKind},
	{"kinds/unknown version", "a kind in a version that isn't served is unknown", func(s *scene) {
		_, err := s.port().Scope(s.Context(), configMap.GroupKind().WithVersion("v7"))
		unknown := fails[*deploy.KindUnknownError](s, err)
		equal(s, "v7", unknown.Kind.Version, "the unknown version")
	}},
	{"kinds/defined later", "a definition and its objects are applied together", func(s *scene) {
		s.widgets()
		obj := s.apply("operkit", s.widget("{size: 1}"))
		equal(s, widget, obj.GroupVersionKind(), "kind of the response")
	}},
	{"kinds/by every name", "people write kinds, plurals, singulars and short names", kindNames},
	{"kinds/in two groups", "the caller must choose the group", func(s *scene) {
		for _, name := range []string{"Event", "ev", "events"} {
			found, err := s.port().Kinds(s.Context(), name)
			s.ok(err)
			equal(s, []schema.GroupVersionKind{
				{Version: "v1", Kind: "Event"}, {Group: "events.k8s.io", Version: "v1", Kind: "Event"},
			}, found, "kinds named "+name)
		}
	}},
	{"kinds/by no name", "nothing is guessed from a subresource, another letter case or a part of a name", func(s *scene) {
		for _, name := range []string{"", "Scale", "CONFIGMAP", "configMap", "config", "Nothing"} {
			found, err := s.port().Kinds(s.Context(), name)
			s.ok(err)
			s.is(len(found) == 0, "kinds named %q: %v", name, found)
		}
	}},
}

func kindNames(s *scene) {
	s.widgets()
	for want, names := range map[schema.GroupVersionKind][]string{
		configMap:  {"ConfigMap", "configmaps", "configmap", "cm"},
		deployment: {"Deployment", "deployments", "deployment", "deploy"},
		namespace:  {"Namespace", "namespaces", "namespace", "ns"},
		widget:     {"Widget", "widgets", "widget", "dtw"},
	} {
		for _, name := range names {
			found, err := s.port().Kinds(s.Context(), name)
			s.ok(err)
			equal(s, []schema.GroupVersionKind{want}, found, "kinds named "+name)
		}
	}
}

func unknownKind(s *scene) {
	obj := s.object("{apiVersion: deploytest.operkit.dev/v1, kind: Nothing, metadata: {name: it, resourceVersion: '1'}}")
	fresh := obj.DeepCopy()
	fresh.SetResourceVersion("")
	ctx, ref := s.Context(), deploy.RefOf(obj)
	calls := requests(ctx, s.port(), obj, fresh, fresh)
	calls["Scope"] = func() error { _, err := s.port().Scope(ctx, nothing); return err }
	calls["View.Get"] = func() error { _, err := s.Cluster.View().Get(ctx, ref); return err }
	calls["View.List"] = func() error { _, err := s.Cluster.View().List(ctx, nothing, s.Namespace, nil); return err }
	calls["Subscribe"] = func() error {
		_, err := s.Cluster.View().Subscribe(ctx, nothing, func(deploy.Event) {})
		return err
	}
	for method, call := range calls {
		err := call()
		s.is(err != nil, "%s: no error", method)
		unknown := fails[*deploy.KindUnknownError](s, err)
		equal(s, nothing, unknown.Kind, method+": the unknown kind")
	}
}

var namespaceCases = []Case{
	{"namespaces/go with their objects", "the deletion of a namespace deletes its objects, each once no finalizer blocks it", func(s *scene) {
		name, remove := s.elsewhere()
		s = s.others()
		held := deploy.RefOf(s.create("operkit", in(name, finalized(s.config("held", "{}")))))
		free := deploy.RefOf(s.create("operkit", in(name, s.config("free", "{}"))))
		remove()
		s.goes(free)
		s.eventually(func() bool { return s.get(held).GetDeletionTimestamp() != nil }, "the held object is being deleted")
		ref := deploy.Ref{Kind: namespace, Name: name}
		phase, _, _ := unstructured.NestedString(s.get(ref).Object, "status", "phase")
		equal(s, "Terminating", phase, "phase of the namespace")
		late := in(name, s.config("late", "{}"))
		forbidden := refusal[*deploy.ForbiddenError](s, s.port().Create, late, deploy.CreateOptions{})
		s.is(!forbidden.MissingRight(), "the error says that a permission is missing: %v", forbidden)
		s.merge("operkit", held, `{"metadata":{"finalizers":null}}`)
		s.goes(ref)
	}},
}
