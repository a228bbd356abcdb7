package event

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// kind is the kind of events.
var kind = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}

// longestName bounds the object's name as a part of the name of an event. The other part is a time.
const longestName = 220

// object returns the object that is written for an event.
func (r *Recorder) object(e Event, at time.Time) *unstructured.Unstructured {
	namespace := cmp.Or(e.Regarding.Namespace, metav1.NamespaceDefault) // the namespace of events about cluster-scoped objects
	content := map[string]any{
		"metadata":  map[string]any{"name": nameOf(e.Regarding.Name, at), "namespace": namespace},
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

// nameOf returns the name of an event, which is the same in each attempt. Names of some objects, such as the
// ClusterRole system:node, aren't valid in names of events.
func nameOf(regarding string, at time.Time) string {
	name := strings.TrimRight(regarding[:min(len(regarding), longestName)], "-.")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(regarding)) // never fails
		name = fmt.Sprintf("%x", hash.Sum64())
	}
	return fmt.Sprintf("%s.%x", name, at.UnixNano())
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
