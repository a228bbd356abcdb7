package event

import (
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is that of events.
var kind = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}

// longestName is how much of an object's name is in that of an event, which has a time beside it.
const longestName = 220

// object is what is written of an event.
func (r *Recorder) object(e Event, at time.Time) *unstructured.Unstructured {
	namespace := e.Regarding.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault // where those of objects are that are in none
	}
	name := strings.TrimRight(e.Regarding.Name[:min(len(e.Regarding.Name), longestName)], "-.")
	content := map[string]any{
		"metadata":  map[string]any{"name": fmt.Sprintf("%s.%x", name, at.UnixNano()), "namespace": namespace},
		"eventTime": at.UTC().Format(metav1.RFC3339Micro), "reportingController": r.controller, "reportingInstance": r.instance,
		"type": string(e.Type), "reason": e.Reason, "action": e.Action, "note": e.Note, "regarding": reference(e.Regarding),
	}
	if e.Related.Ref != (deploy.Ref{}) {
		content["related"] = reference(e.Related)
	}
	obj := &unstructured.Unstructured{Object: content}
	obj.SetGroupVersionKind(kind)
	return obj
}

func reference(o Object) map[string]any {
	version, name := o.Kind.ToAPIVersionAndKind()
	content := map[string]any{"apiVersion": version, "kind": name, "name": o.Name}
	for key, value := range map[string]string{"namespace": o.Namespace, "uid": string(o.UID), "resourceVersion": o.ResourceVersion} {
		if value != "" {
			content[key] = value
		}
	}
	return content
}
