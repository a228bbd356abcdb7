package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var namespaceCases = []Case{
	{"namespaces/go with what is in them", "a namespace takes what is in it along, once nothing holds that", func(s *scene) {
		name, remove := s.elsewhere()
		port := s.Others.Port()
		held, free := s.config("held", "{}"), s.config("free", "{}")
		held.SetFinalizers([]string{"operkit.dev/a"})
		for _, obj := range []*unstructured.Unstructured{held, free} {
			obj.SetNamespace(name)
			_, err := port.Create(s.Context(), obj, deploy.CreateOptions{})
			s.ok(err)
		}
		remove()
		gone := func(ref deploy.Ref) func() bool {
			return func() bool {
				obj, err := port.Get(s.Context(), ref)
				s.ok(err)
				return obj == nil
			}
		}
		s.eventually(gone(deploy.RefOf(free)), "what nothing holds is gone")
		s.eventually(func() bool {
			obj, err := port.Get(s.Context(), deploy.RefOf(held))
			s.ok(err)
			return obj.GetDeletionTimestamp() != nil
		}, "what is held is being deleted")
		ref := deploy.Ref{Kind: namespace, Name: name}
		obj, err := port.Get(s.Context(), ref)
		s.ok(err)
		phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
		equal(s, "Terminating", phase, "phase of the namespace")
		late := s.config("late", "{}")
		late.SetNamespace(name)
		_, err = port.Create(s.Context(), late, deploy.CreateOptions{})
		forbidden := fails[*deploy.ForbiddenError](s, err)
		s.is(!forbidden.MissingRight(), "a right is said to be missing: %v", err)
		_, err = port.Patch(s.Context(), deploy.RefOf(held), merging("operkit", `{"metadata":{"finalizers":null}}`))
		s.ok(err)
		s.eventually(gone(ref), "the namespace is gone")
	}},
}
