package usercases

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
)

// report is what there is to see of the resource, for people.
func (s *scene) report() string {
	if s.resource == nil {
		return "no resource is applied yet"
	}
	var text strings.Builder
	if live, err := s.live(); err != nil {
		fmt.Fprintf(&text, "%v\n", err)
	} else {
		fmt.Fprintf(&text, "%s, generation %d\n", deploy.RefOf(live), live.GetGeneration())
		for _, c := range status.Conditions(live).List() {
			fmt.Fprintf(&text, "  %s=%s %s (of generation %d): %s\n", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message)
		}
	}
	for _, ref := range s.refs() {
		obj, err := s.port.Get(s.t.Context(), ref)
		if err != nil || obj == nil {
			fmt.Fprintf(&text, "  %s: none: %v\n", ref, err)
			continue
		}
		fmt.Fprintf(&text, "  %s: uid %s, was %s, deleted %v, status %v\n",
			ref, obj.GetUID(), s.before[ref], obj.GetDeletionTimestamp(), obj.Object["status"])
	}
	events, _ := s.events()
	for _, event := range events {
		fmt.Fprintf(&text, "  event: %s\n", event)
	}
	return text.String()
}

// events are the reasons and notes of those that the operator has written about the resource.
func (s *scene) events() (texts []string, err error) {
	kind := schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}
	events, err := s.port.List(s.t.Context(), kind, s.resource.GetNamespace(), deploy.ListOptions{})
	for _, event := range events {
		about, _, _ := unstructured.NestedString(event.Object, "regarding", "name")
		kind, _, _ := unstructured.NestedString(event.Object, "regarding", "kind")
		if about == s.resource.GetName() && kind == s.resource.GetKind() {
			reason, _, _ := unstructured.NestedString(event.Object, "reason")
			note, _, _ := unstructured.NestedString(event.Object, "note")
			texts = append(texts, reason+": "+note)
		}
	}
	return texts, err
}
