package explore

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// refusesSecond reports whether the first failure of a life is that of a resource that was just created: the operator
// may be made for one resource, or a value may have to be unique.
func (l *lesson) refusesSecond() bool {
	for n, now := range l.chapters {
		if created, is := strings.CutPrefix(l.life.chapters[n].name, "create "); len(now.errs) > 0 {
			return is && now.errs[created] != ""
		}
	}
	return false
}

// crossed finds what a resource has only beside another one: its status, or what it alone owns, differs.
func (l *lesson) crossed() *finding {
	for _, p := range l.life.own {
		alone, both := l.chapters[p.first].end, l.chapters[p.second].end
		differences := slices.DeleteFunc(l.differences(alone, both), func(d difference) bool {
			return !l.owns(d.object, alone) || both[d.object] != nil && !l.owns(d.object, both)
		})
		if len(differences) > 0 {
			return found(l.trace, p.second, p.reason, texts(differences)...)
		}
	}
	return nil
}

// robbed finds an object of the operator that it deletes, and creates again, because another resource is deleted.
func (l *lesson) robbed() *finding {
	for n, now := range l.chapters {
		if n == 0 || !l.life.paired() || !strings.HasPrefix(l.life.chapters[n].name, "delete ") {
			continue
		}
		for _, call := range now.calls {
			name := refName(call.Ref)
			if call.Action == deploy.Removed && l.chapters[n-1].end[name] != nil && now.end[name] != nil {
				return found(l.trace, n, "the deletion of one resource deletes what another one has", name+": it is deleted, and created again")
			}
		}
	}
	return nil
}

// owns reports whether an object is the first resource of a life, or belongs to it and to nobody else.
func (l *lesson) owns(object string, in state) bool {
	if object == nameOf(l.life.resource) {
		return true
	}
	owners, _, _ := unstructured.NestedSlice(in[object], "metadata", "ownerReferences")
	resource := l.life.resource
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(owner any) bool {
		fields, _ := owner.(map[string]any)
		return fields["kind"] != resource.GetKind() || fields["name"] != resource.GetName()
	}) && namespaceIn(in[object]) == resource.GetNamespace()
}

func namespaceIn(content map[string]any) string {
	namespace, _, _ := unstructured.NestedString(content, "metadata", "namespace")
	return namespace
}
