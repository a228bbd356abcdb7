package reconcile

import (
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
)

// report is what a reconcile reports in the status.
type report struct {
	generation int64
	outcome    *Outcome
	err        error
	// values are fields that the controller has set.
	values status.Values
}

func (r *Reconciler) application(s *Session, rep report, present map[string]any) status.Application {
	application := status.Application{
		Generation: rep.generation, SupportedVersions: r.options.supported, OperatorVersion: r.options.operatorVersion,
		OnlyReady: r.options.has(OnlyReady), Values: rep.values,
		Warn: func(message string) { s.logger.Warn("a part of the present status can't be used", "warning", message) },
	}
	if r.options.has(ServiceStatus) {
		application.Kind = s.Kind().Kind
	}
	if rep.outcome != nil {
		application.Components = componentState(*rep.outcome)
		for name, text := range s.kept() {
			application.Components.Messages[name] = withKept(application.Components.Messages[name], map[string]string{name: text})
		}
		if r.options.has(DependencyGraph) {
			application.Components.Graph = rep.outcome.Graph()
		}
	}
	started, _ := status.ForStart(present, s.version)
	err := rep.err
	if err == nil && rep.outcome.waitsBefore() {
		err = request.Precondition("%s", s.waitingMessage(*rep.outcome))
	}
	if err != nil {
		application.Ready, application.Updating = status.ForError(request.ClassOf(err), err.Error())
		if application.Ready.Reason == "" {
			application.Ready = started
		}
		return application
	}
	application.Ready, application.Updating = status.ForEnd(present, rep.outcome.Complete())
	if rep.outcome.Complete() {
		application.Version = s.version
		if remarks := remarksMessage(*rep.outcome); remarks != "" {
			application.Ready.Message += "; " + remarks
			application.Updating.Message += "; " + remarks
		}
		application.Ready.Message = withKept(application.Ready.Message, s.kept())
		return application
	}
	if started.Reason == status.ReadyInitializing {
		application.Ready = started
	}
	if waiting := s.waitingMessage(*rep.outcome); waiting != "" {
		application.Ready.Message, application.Updating.Message = waiting, waiting
	}
	return application
}

// waitingMessage describes what each component waits for, and whether these are the components of Finalize.
func (s *Session) waitingMessage(o Outcome) string {
	text := waitingMessage(o)
	if text != "" && s.deleting() > 0 {
		text = "finalize: " + text
	}
	return text
}

func waitingMessage(o Outcome) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		switch c := o.Components[name]; {
		case c.State == Unverified && c.Err != nil:
			parts = append(parts, name+": "+c.Err.Error())
		case c.State == Unstarted:
			parts = append(parts, name+" "+c.Reason)
		}
	}
	return strings.Join(parts, "; ")
}

// remarksMessage joins the remarks about ready components.
func remarksMessage(o Outcome) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		if remark := o.Components[name].Remark; remark != "" {
			parts = append(parts, name+": "+remark)
		}
	}
	return strings.Join(parts, "; ")
}

func componentState(o Outcome) *status.ComponentState {
	state := &status.ComponentState{Unstarted: map[string]string{}, Messages: map[string]string{}, Kinds: kindNames(o.kinds)}
	for name, c := range o.Components {
		state.All = append(state.All, name)
		switch c.State {
		case Verified:
			state.Verified = append(state.Verified, name)
		case Disabled:
			state.Disabled = append(state.Disabled, name)
		case Unverified:
			// The status counts unverified components as deployed. So a component that still waits for its deployment
			// is listed as unstarted instead.
			if c.Deployed {
				state.Unverified = append(state.Unverified, name)
			} else {
				state.Unstarted[name] = "waits"
			}
		case Failed:
			state.Failed = append(state.Failed, name)
		case Unstarted:
			state.Unstarted[name] = c.Reason
		}
		switch {
		case c.Err != nil:
			state.Messages[name] = c.Err.Error()
		case c.Remark != "":
			state.Messages[name] = c.Remark
		}
	}
	return state
}
