package deploytest

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var strategyCases = []Case{
	{"strategies/recreated on change", "a change of the intent makes a new object, and drift doesn't", func(s *scene) {
		m := s.managerOf(s.Cluster, deploy.KindStrategy(configMap.GroupKind(), deploy.RecreateOnChange))
		s.watch(configMap)
		first := s.becomes(deploy.Created, m, s.settings("{a: '1'}")).Object
		s.others().merge("kubectl", deploy.RefOf(first), `{"data":{"a":"2"}}`)
		s.eventually(func() bool { return data(s.seen(deploy.RefOf(first)))["a"] == "2" }, "the View shows the drift")
		repaired := s.becomes(deploy.Configured, m, s.settings("{a: '1'}")).Object
		equal(s, first.GetUID(), repaired.GetUID(), "uid after the drift")
		unchanged, err := m.Unchanged(s.Context(), s.settings("{a: '3'}"))
		s.ok(err)
		s.is(!unchanged, "another intent is unchanged")
		anew := s.becomes(deploy.Recreated, m, s.settings("{a: '3'}")).Object
		s.is(first.GetUID() != anew.GetUID(), "the uid is the same")
		s.becomes(deploy.Unchanged, m, s.settings("{a: '3'}"))
	}},
	{"strategies/create only", "an existing object isn't changed, whatever its content", func(s *scene) {
		m, calls := s.manager(deploy.DefaultStrategy(deploy.CreateOnly))
		before := s.becomes(deploy.Created, m, s.settings("{a: '1'}")).Object
		s.asked(calls, "create ConfigMap settings")
		s.becomes(deploy.Unchanged, m, s.settings("{a: '2'}"))
		s.asked(calls)
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"strategies/create only and first by others", "an object that somebody else creates at the same time isn't changed", func(s *scene) {
		theirs := s.create("other", s.settings("{a: '1'}"))
		m, calls := s.manager(deploy.DefaultStrategy(deploy.CreateOnly))
		calls.blind = true
		blind := s.managerOf(calls, deploy.DefaultStrategy(deploy.CreateOnly))
		result := s.becomes(deploy.Unchanged, blind, s.settings("{a: '2'}"))
		s.asked(calls, "create ConfigMap settings", "get ConfigMap settings")
		equal(s, theirs.GetUID(), result.Object.GetUID(), "uid")
		s.becomes(deploy.Unchanged, m, s.settings("{a: '2'}"))
	}},
	{"strategies/create only and being deleted", "an object that is being deleted doesn't count: a new object is created once the old one is gone", func(s *scene) {
		held := finalized(s.settings("{a: '1'}"))
		m, calls, made := s.managing(held, deploy.DefaultStrategy(deploy.CreateOnly))
		ref := deploy.RefOf(made)
		s.delete(ref)
		equal(s, []string{"operkit.dev/a"}, fails[*deploy.TerminatingError](s, s.becomes(deploy.Skipped, m, held).Err).Finalizers, "finalizers")
		s.asked(calls)
		s.merge("operkit", ref, `{"metadata":{"finalizers":null}}`)
		s.becomes(deploy.Created, m, s.settings("{a: '1'}"))
	}},
	{"strategies/generateName", "the object that was created from a manifest is found again", func(s *scene) {
		manifest := s.object("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-}, data: {a: '1'}}")
		m, calls, made := s.managing(manifest, deploy.DefaultStrategy(deploy.CreateOnly))
		s.is(strings.HasPrefix(made.GetName(), "run-"), "name %q", made.GetName())
		again := s.becomes(deploy.Unchanged, m, manifest)
		equal(s, deploy.RefOf(made), again.Ref, "the object found")
		s.asked(calls)
	}},
	{"strategies/replace", "fields that the manifest leaves out are removed, whoever set them, but metadata of others stays", func(s *scene) {
		m, calls, made := s.managing(s.settings("{a: '1'}"), deploy.DefaultStrategy(deploy.Replace))
		s.merge("kubectl", deploy.RefOf(made), `{"data":{"b":"2"},"metadata":{"labels":{"x":"y"}}}`)
		s.becomes(deploy.Unchanged, m, s.settings("{a: '1'}"))
		s.asked(calls)
		result := s.becomes(deploy.Replaced, m, s.settings("{a: '3'}"))
		s.asked(calls, "update ConfigMap settings")
		equal(s, map[string]string{"a": "3"}, data(result.Object), "data")
		equal(s, map[string]string{"x": "y"}, result.Object.GetLabels(), "labels")
		s.settles(s.settings("{a: '3'}"), deploy.DefaultStrategy(deploy.Replace))
	}},
	{"strategies/replace leaves the status", "a replacement doesn't change the status", func(s *scene) {
		s.widgets()
		s.watch(widget)
		m, _, made := s.managing(s.widget("{size: 1}"), deploy.DefaultStrategy(deploy.Replace))
		ref := deploy.RefOf(made)
		reported := s.others().patch(ref, statusPatch("controller", `{"status":{"phase":"Ready"}}`))
		s.eventually(func() bool { return s.seen(ref).GetResourceVersion() == reported.GetResourceVersion() }, "the View shows the status")
		obj := s.becomes(deploy.Replaced, m, s.widget("{color: red}")).Object
		s.is(slices.ContainsFunc(s.get(ref).GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "controller" }),
			"no entry of the controller: %v", s.get(ref).GetManagedFields())
		equal(s, any(map[string]any{"color": "red"}), obj.Object["spec"], "spec")
		equal(s, any(map[string]any{"phase": "Ready"}), obj.Object["status"], "status")
	}},
	{"strategies/recreate", "an object is recreated only for a change that the cluster refuses", func(s *scene) {
		fixed := deploy.Immutable(widget.GroupKind(), ".spec.size")
		m, calls, before := s.managing(s.widget("{size: 1}"), deploy.DefaultStrategy(deploy.Recreate), fixed)
		s.becomes(deploy.Configured, m, s.widget("{size: 1, color: red}"))
		s.asked(calls, "apply Widget one")
		after := s.becomes(deploy.Recreated, m, s.widget("{size: 2}")).Object
		s.asked(calls, "list PersistentVolumeClaim", "create Widget one dry-run", "delete Widget one", "apply Widget one")
		s.is(before.GetUID() != after.GetUID(), "the object wasn't recreated")
		equal(s, any(map[string]any{"size": int64(2)}), s.get(deploy.RefOf(after)).Object["spec"], "spec")
		s.settles(s.widget("{size: 2}"), deploy.DefaultStrategy(deploy.Recreate))
	}},
	{"strategies/recreate a kind of Kubernetes", "immutable fields of built-in kinds are recognized", func(s *scene) {
		frozen := func(value string) *unstructured.Unstructured {
			return s.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, immutable: true, data: {a: '" + value + "'}}")
		}
		m, calls, _ := s.managing(frozen("1"), deploy.DefaultStrategy(deploy.Recreate))
		s.becomes(deploy.Unchanged, m, frozen("1"))
		equal(s, "2", data(s.becomes(deploy.Recreated, m, frozen("2")).Object)["a"], "a")
		s.asked(calls, "apply ConfigMap settings", "list PersistentVolumeClaim", "create ConfigMap settings dry-run", "delete ConfigMap settings", "apply ConfigMap settings")
	}},
	{"strategies/recreate for a field that is left out", "leaving out an immutable field that this manager owns is a change", func(s *scene) {
		m, _ := s.manager(deploy.DefaultStrategy(deploy.Recreate), deploy.Immutable(widget.GroupKind(), ".spec"))
		before := s.becomes(deploy.Created, m, s.widget("{size: 1, color: red}")).Object
		s.becomes(deploy.Unchanged, m, s.widget("{size: 1, color: red}"))
		after := s.becomes(deploy.Recreated, m, s.widget("{size: 1}")).Object
		s.is(before.GetUID() != after.GetUID(), "the object wasn't recreated")
		s.settles(s.widget("{size: 1}"), deploy.DefaultStrategy(deploy.Recreate))
	}},
	{"strategies/recreate not for a field of others", "leaving out an immutable field that somebody else owns isn't a change", func(s *scene) {
		m, _ := s.manager(deploy.DefaultStrategy(deploy.Recreate), deploy.Immutable(widget.GroupKind(), ".spec"))
		before := s.becomes(deploy.Created, m, s.widget("{size: 1}")).Object
		s.merge("kubectl", deploy.RefOf(before), `{"spec":{"color":"red"}}`)
		after := s.becomes(deploy.Configured, m, labelled(s.widget("{size: 1}"), "a", "b")).Object
		equal(s, before.GetUID(), after.GetUID(), "uid")
	}},
	{"strategies/protected", "an object that holds data isn't deleted and created again unless the strategy allows it", func(s *scene) {
		claim := func(mode string) *unstructured.Unstructured {
			return s.object("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {storageClassName: none, accessModes: [" + mode + "], resources: {requests: {storage: 1Gi}}}}")
		}
		m, calls, before := s.managing(claim("ReadWriteOnce"), deploy.DefaultStrategy(deploy.Recreate))
		fails[*deploy.InvalidError](s, s.becomes(deploy.Failed, m, claim("ReadWriteMany")).Err)
		s.asked(calls, "apply PersistentVolumeClaim disk")
		equal(s, before.GetUID(), s.get(deploy.RefOf(before)).GetUID(), "uid")
		s.becomes(deploy.Recreated, m, claim("ReadWriteMany"), deploy.DefaultStrategy(deploy.RecreateProtected))
	}},
	{"strategies/on delete", "an existing object isn't changed, and is created with the new content after somebody deleted it", func(s *scene) {
		m, calls, made := s.managing(s.settings("{a: '1'}"), deploy.DefaultStrategy(deploy.OnDelete))
		s.becomes(deploy.Skipped, m, s.settings("{a: '2'}"))
		s.asked(calls)
		s.delete(deploy.RefOf(made))
		equal(s, "2", data(s.becomes(deploy.Created, m, s.settings("{a: '2'}")).Object)["a"], "a")
	}},
	{"strategies/by the manifest", "an annotation sets the strategy of its object, and isn't part of the intent", func(s *scene) {
		m, calls := s.manager()
		intent := s.settings("{a: '1'}")
		intent.SetAnnotations(map[string]string{"operkit.dev/strategy": "Ignore"})
		s.becomes(deploy.Skipped, m, intent)
		s.asked(calls)
		s.absent(deploy.RefOf(intent))
		intent.SetAnnotations(map[string]string{"operkit.dev/strategy": "CreateOnly"})
		s.becomes(deploy.Created, m, intent)
		s.asked(calls, "create ConfigMap settings")
	}},
}
