package explore

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// addition is an annotation that somebody else adds to the objects of the operator, as many tools do. It isn't
// compared.
const addition = "explore.operkit.dev/added"

// adorn adds an annotation to each new object of the operator.
func (w *witness) adorn() {
	for _, obj := range w.harness.Memory().Objects() {
		ref := deploy.RefOf(obj)
		if w.explores(ref) || w.trace.began[nameOf(obj)] != nil || obj.GetDeletionTimestamp() != nil || w.adorned[ref] == obj.GetUID() {
			continue
		}
		err := w.harness.TryEdit(nameOf(obj), func(obj *unstructured.Unstructured) {
			annotations := obj.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[addition] = "by somebody else"
			obj.SetAnnotations(annotations)
		})
		if err == nil { // else the cluster refuses it
			w.adorned[ref] = obj.GetUID()
		}
	}
}

// removals finds an object from which the operator has removed what somebody else has added.
func (w *witness) removals(objects []*unstructured.Unstructured) []fault {
	for _, obj := range objects {
		ref := deploy.RefOf(obj)
		gone := w.adorned[ref] == obj.GetUID() && obj.GetAnnotations()[addition] == ""
		if gone && !w.options.ignoresField(ref, "metadata.annotations["+addition+"]") {
			return []fault{{"the operator removes what others add to its objects", []string{
				nameOf(obj) + " metadata.annotations[" + addition + "]: somebody else has added it, and it is gone",
			}}}
		}
	}
	return nil
}
