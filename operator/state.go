package operator

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
)

// pausedReason is that of a resource that is left alone.
const pausedReason = "Paused"

// state is how one resource is, as its status says.
type state struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Ready is True, False or Unknown, Reason why, or Paused or Deleting; Message says more.
	Ready   string `json:"ready"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Verified is how many components are ready, of how many; empty if the status doesn't tell.
	Verified string `json:"verified,omitempty"`
	// Version is the one that it was last brought to.
	Version string `json:"version,omitempty"`
	// Outdated tells that the status speaks of an older generation.
	Outdated   bool               `json:"outdated,omitempty"`
	Components []componentStatus  `json:"components,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	created    time.Time
}

// How a component may be.
const (
	isReady      = "ready"
	isNotReady   = "not ready"
	isFailed     = "failed"
	isNotStarted = "not started"
)

// componentStatus is how one component is.
type componentStatus struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
}

func newState(obj *unstructured.Unstructured, domain string) state {
	conditions := status.Conditions(obj)
	ready, known := conditions.Get(status.ConditionReady)
	content, _ := obj.Object["status"].(map[string]any)
	s := state{
		Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(), Ready: string(cmp.Or(ready.Status, metav1.ConditionUnknown)),
		Reason: ready.Reason, Message: ready.Message, Version: status.ReconciledVersion(content), Conditions: conditions.List(),
		Outdated: known && ready.ObservedGeneration > 0 && ready.ObservedGeneration < obj.GetGeneration(), created: obj.GetCreationTimestamp().Time,
	}
	updating, ok := conditions.Get(status.ConditionUpdating)
	unsettled := ok && updating.Reason != string(status.UpdatingStable)
	if unsettled {
		s.Message = cmp.Or(updating.Message, s.Message)
	}
	components, _ := content["componentStatus"].(map[string]any)
	s.Verified, _ = components["verified"].(string)
	s.Components = componentsOf(components)
	paused, ok := conditions.Get(reconcile.ConditionPaused)
	_, asked := obj.GetAnnotations()[domain+"/"+pauseKey]
	switch {
	case obj.GetDeletionTimestamp() != nil:
		s.Reason, s.Message = "Deleting", "waits for the finalizers "+strings.Join(obj.GetFinalizers(), ", ")
		// A deletion is a generation of its own: what was said before it isn't about it.
		if unsettled && updating.Message != "" && updating.ObservedGeneration == obj.GetGeneration() {
			s.Message += ": " + updating.Message
		}
	case ok && asked && paused.Status == metav1.ConditionTrue:
		s.Reason, s.Message = pausedReason, cmp.Or(paused.Message, s.Message)
	case !known:
		s.Reason, s.Message = "", "nobody has looked at it yet: does the operator run?"
	}
	return s
}

// componentsOf reads the components of a status, in the order of their states.
func componentsOf(content map[string]any) (all []componentStatus) {
	messages := named(content["componentMessages"], "message")
	waits := named(content["unstartedComponents"], "reason")
	for _, one := range []struct{ key, state string }{
		{"failedComponents", isFailed}, {"unverifiedComponents", isNotReady}, {"verifiedComponents", isReady},
	} {
		list, _ := content[one.key].([]any)
		for _, item := range list {
			if name, ok := item.(string); ok {
				all = append(all, componentStatus{name, one.state, messages[name]})
			}
		}
	}
	list, _ := content["unstartedComponents"].([]any)
	for _, item := range list {
		entry, _ := item.(map[string]any)
		if name, ok := entry["name"].(string); ok {
			all = append(all, componentStatus{name, isNotStarted, cmp.Or(messages[name], waits[name])})
		}
	}
	return all
}

// named are the texts of a list by the names of its items.
func named(list any, key string) map[string]string {
	texts := map[string]string{}
	items, _ := list.([]any)
	for _, item := range items {
		entry, _ := item.(map[string]any)
		name, _ := entry["name"].(string)
		texts[name], _ = entry[key].(string)
	}
	return texts
}

// states are those of resources.
type states struct {
	all []state
	// kinds and namespaces tell whether resources differ in them, details whether each is shown at length.
	kinds, namespaces, details bool
}

func (s states) document() any {
	if s.details && len(s.all) == 1 {
		return s.all[0]
	}
	return append([]state{}, s.all...)
}

func (s states) table(out io.Writer) error {
	if s.details {
		return s.describe(out)
	}
	head := []string{"NAME", "READY", "REASON", "COMPONENTS", "AGE", "MESSAGE"}
	rows := [][]string{s.places("NAMESPACE", "KIND", head)}
	for _, one := range s.all {
		message, _, _ := strings.Cut(one.Message, "\n")
		if one.Ready == string(metav1.ConditionTrue) && one.Reason == string(status.ReadyStable) && !one.Outdated {
			_, message, _ = strings.Cut(message, "; ") // all is well, save for what it may say besides
		}
		row := []string{one.Name, one.shownReady(), oneLine(cmp.Or(one.Reason, "-")), oneLine(cmp.Or(one.Verified, "-")), age(one.created), oneLine(message)}
		rows = append(rows, s.places(one.Namespace, one.Kind, row))
	}
	return writeTable(out, rows)
}

// places puts where a resource is before a row, if that differs.
func (s states) places(namespace, kind string, row []string) []string {
	if s.kinds {
		row = append([]string{kind}, row...)
	}
	if s.namespaces {
		row = append([]string{namespace}, row...)
	}
	return row
}

func (s state) shownReady() string {
	if s.Outdated {
		return s.Ready + " (outdated)"
	}
	return s.Ready
}

// oneLine is a text of somebody else for a table: on one line, and without what a terminal would take for a command.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.NewReplacer("\r\n", "; ", "\n", "; ", "\t", " ").Replace(text))
}

func age(since time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return duration.HumanDuration(time.Since(since))
}

// describe shows each resource at length.
func (s states) describe(out io.Writer) error {
	for i, one := range s.all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := one.describe(out); err != nil {
			return err
		}
	}
	return nil
}

func (s state) describe(out io.Writer) error {
	name := s.Name
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	rows := [][]string{{s.Kind, name}, {"Ready", s.shownReady() + "  " + oneLine(s.Reason)}}
	if s.Message != "" {
		rows = append(rows, []string{"Message", oneLine(s.Message)})
	}
	if s.Version != "" {
		rows = append(rows, []string{"Version", oneLine(s.Version)})
	}
	if s.Verified != "" {
		rows = append(rows, []string{"Components", oneLine(s.Verified) + " ready"})
	}
	if err := writeWhole(out, rows); err != nil {
		return err
	}
	if len(s.Components) > 0 {
		rows := [][]string{{"COMPONENT", "STATE", "MESSAGE"}}
		for _, c := range s.Components {
			rows = append(rows, []string{oneLine(c.Name), c.State, oneLine(c.Message)})
		}
		fmt.Fprintln(out)
		if err := writeWhole(out, rows); err != nil {
			return err
		}
	}
	if len(s.Conditions) == 0 {
		return nil
	}
	rows = [][]string{{"CONDITION", "STATUS", "REASON", "SINCE", "MESSAGE"}}
	for _, c := range s.Conditions {
		rows = append(rows, []string{oneLine(c.Type), oneLine(string(c.Status)), oneLine(c.Reason), age(c.LastTransitionTime.Time), oneLine(c.Message)})
	}
	fmt.Fprintln(out)
	return writeWhole(out, rows)
}
