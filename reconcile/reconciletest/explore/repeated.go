package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// repeated finds an event that is recorded once more though nothing has changed: with each reconcile there is another
// one. first are the events of a chapter until the operator had nothing left to do, and again those since then.
func (o *options) repeated(first, again []event.Event) []fault {
	for _, e := range again {
		ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Event"}, Namespace: e.Regarding.Namespace, Name: e.Reason}
		alike := func(other event.Event) bool {
			return other.Regarding.Ref == e.Regarding.Ref && other.Reason == e.Reason && other.Note == e.Note
		}
		if o.ignoresObject(ref) || !slices.ContainsFunc(first, alike) {
			continue
		}
		about := strings.TrimPrefix(e.Regarding.Namespace+"/"+e.Regarding.Name, "/")
		return []fault{{"an event is recorded again though nothing has changed", []string{
			fmt.Sprintf("%s %s, event %s: record it when something has changed, or explore.Ignore(\"Event %[3]s\")", e.Regarding.Kind.Kind, about, e.Reason),
		}}}
	}
	return nil
}
