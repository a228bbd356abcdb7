package cli

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/operkit/operkit/operator/internal/messages"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/pause"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// The reasons of a resource that is paused, and of one that is being deleted.
const (
	pausedReason   = "Paused"
	deletingReason = "Deleting"
)

// state is the state of a resource, from its status.
type state struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Ready is True, False or Unknown. Reason and Message explain what is going on: those of the condition Updating while
	// something is being changed, otherwise those of Ready. Reason may also be Paused or Deleting.
	Ready   string `json:"ready"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Verified has the numbers of verified components and of all that aren't disabled, such as 1/2. It is empty if they
	// aren't known.
	Verified string `json:"verified,omitempty"`
	// Version is the version that was rolled out last.
	Version string `json:"version,omitempty"`
	// Outdated is set when the status is about an older generation.
	Outdated   bool               `json:"outdated,omitempty"`
	Components []componentState   `json:"components,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	created    time.Time
}

// componentState is the state of a component.
type componentState struct {
	Name    string          `json:"name"`
	State   reconcile.State `json:"state"`
	Message string          `json:"message,omitempty"`
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
	updating, found := conditions.Get(status.ConditionUpdating)
	inProgress := found && updating.Reason != string(status.UpdatingStable)
	if inProgress {
		s.Message = cmp.Or(updating.Message, s.Message)
	}
	if inProgress && ready.Reason != string(status.ReadyConfigError) { // Errored, which Updating says then, is less exact
		s.Reason = updating.Reason
	}
	if components := componentsOf(obj); components != nil {
		s.Verified, s.Components = components.Verified, statesOfComponents(components)
	}
	paused, found := conditions.Get(reconcile.ConditionPaused)
	_, asked := obj.GetAnnotations()[pause.Annotation(domain)]
	switch {
	case obj.GetDeletionTimestamp() != nil:
		s.Reason, s.Message = deletingReason, "waits for the finalizers "+strings.Join(obj.GetFinalizers(), ", ")
		// The deletion increases the generation, so a message about an older generation isn't about the deletion.
		about := updating
		if about.Type == "" { // a status with only the condition Ready
			about = ready
		}
		if about.Reason != string(status.UpdatingStable) && about.Message != "" && about.ObservedGeneration == obj.GetGeneration() {
			s.Message = about.Message
		}
	case found && asked && paused.Status == metav1.ConditionTrue:
		s.Reason, s.Message = pausedReason, cmp.Or(paused.Message, s.Message)
	case !known:
		s.Reason, s.Message = "", "no operator has reconciled it yet: does the operator run?"
	}
	return s
}

// newForeignState returns the state of a resource whose reconciler is of another style than components: it need not
// write conditions.
func newForeignState(obj *unstructured.Unstructured, domain string, now time.Time) state {
	s := newState(obj, domain)
	_, known := status.Conditions(obj).Get(status.ConditionReady)
	p := pause.Of(obj, domain, now)
	switch {
	case obj.GetDeletionTimestamp() != nil, s.Reason == pausedReason:
	case p.Paused:
		s.Reason, s.Message = pausedReason, fmt.Sprintf("its annotation %s is %q", p.Annotation, p.Value)
	case !known:
		s.Message = strings.Join(append([]string{"its status has no condition Ready"}, told(s.Conditions)...), "; ")
	}
	return s
}

// told returns what conditions say, those that aren't True first: whether that is good depends on the condition.
func told(conditions []metav1.Condition) (others []string) {
	var holding []string
	for _, c := range conditions {
		if c.Status == metav1.ConditionTrue {
			holding = append(holding, c.Type)
			continue
		}
		others = append(others, fmt.Sprintf("%s is %s: %s", c.Type, c.Status, cmp.Or(c.Message, c.Reason)))
	}
	if len(holding) > 0 {
		others = append(others, "True: "+strings.Join(holding, ", "))
	}
	return others
}

// componentsOf reads the components from the status of a resource. It returns nil if the status has none.
func componentsOf(obj *unstructured.Unstructured) *status.ComponentFields {
	content, found, err := unstructured.NestedMap(obj.Object, "status", "componentStatus")
	if err != nil || !found {
		return nil
	}
	var fields status.ComponentFields
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &fields); err != nil {
		return nil
	}
	return &fields
}

// statesOfComponents returns the states of the components. Components that need attention come first.
func statesOfComponents(fields *status.ComponentFields) (all []componentState) {
	messages := map[string]string{}
	for _, one := range fields.ComponentMessages {
		messages[one.Name] = one.Message
	}
	add := func(state reconcile.State, names []string) {
		for _, name := range names {
			all = append(all, componentState{name, state, messages[name]})
		}
	}
	add(reconcile.Failed, fields.FailedComponents)
	add(reconcile.Unverified, fields.UnverifiedComponents)
	add(reconcile.Verified, fields.VerifiedComponents)
	for _, one := range fields.UnstartedComponents {
		all = append(all, componentState{one.Name, reconcile.Unstarted, cmp.Or(messages[one.Name], one.Reason)})
	}
	add(reconcile.Disabled, fields.DisabledComponents)
	return all
}

// states are the states of resources.
type states struct {
	all []state
	// kinds and namespaces add these columns; details shows each resource at length.
	kinds, namespaces, details bool
	// called is how users call the program, for the command that explains a reason.
	called string
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
			_, message, _ = strings.Cut(message, "; ") // "everything is ready" isn't shown, only the text after it
		}
		row := []string{one.Name, one.shownReady(), oneLine(cmp.Or(one.Reason, "-")), oneLine(cmp.Or(one.Verified, "-")), age(one.created), oneLine(message)}
		rows = append(rows, s.places(one.Namespace, one.Kind, row))
	}
	return writeTable(out, rows)
}

// places adds the columns of namespace and kind to a row.
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

// oneLine returns a text from the cluster for a table: on one line, and without control characters for the terminal.
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

// describe writes each resource at length.
func (s states) describe(out io.Writer) error {
	for i, one := range s.all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := one.describe(out); err != nil {
			return err
		}
		if one.Reason != string(status.ReadyStable) && messages.Known(one.Reason) {
			fmt.Fprintf(out, "\nMore about %[1]s: %[2]s explain %[1]s\n", one.Reason, s.called)
		}
	}
	return nil
}

func (s state) describe(out io.Writer) error {
	verified := s.Verified
	if verified != "" {
		verified += " verified"
	}
	title, message := path.Join(s.Namespace, s.Name), s.Message
	if s.Reason == deletingReason { // why the resource isn't gone yet is in the first line
		title, message = title+" is being deleted: "+oneLine(message), ""
	}
	rows := [][]string{{s.Kind, title}, {"Ready", s.shownReady() + "  " + oneLine(s.Reason)}}
	for _, row := range [][]string{{"Message", message}, {"Version", s.Version}, {"Components", verified}} {
		if row[1] != "" {
			rows = append(rows, []string{row[0], oneLine(row[1])})
		}
	}
	components := [][]string{{"COMPONENT", "STATE", "MESSAGE"}}
	for _, c := range s.Components {
		components = append(components, []string{oneLine(c.Name), string(c.State), oneLine(c.Message)})
	}
	conditions := [][]string{{"CONDITION", "STATUS", "REASON", "SINCE", "MESSAGE"}}
	for _, c := range s.Conditions {
		conditions = append(conditions, []string{oneLine(c.Type), oneLine(string(c.Status)), oneLine(c.Reason), age(c.LastTransitionTime.Time), oneLine(c.Message)})
	}
	if err := writeWhole(out, rows); err != nil {
		return err
	}
	for _, rows := range [][][]string{components, conditions} {
		if len(rows) == 1 {
			continue
		}
		fmt.Fprintln(out)
		if err := writeWhole(out, rows); err != nil {
			return err
		}
	}
	return nil
}
