package handlers

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/typed"
)

// ids are valid ids.
var ids = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// longestID bounds the length of an id.
const longestID = 63

func isID(id string) bool { return ids.MatchString(id) && len(id) <= longestID }

// ofCauses checks the causes of a handler of On.
func ofCauses(causes Cause) Option {
	return func(s *settings) {
		if causes == 0 || causes&^(Create|Update|Delete|Resume) != 0 {
			s.fail("cause %d: not a cause: use Create, Update, Delete and Resume, combined by |", causes)
		}
	}
}

// validate finds what is wrong with a handler and its options.
func (s *settings) validate() {
	on := s.On
	if !isID(s.ID) {
		s.fail("the id isn't valid: use up to %d of a-z, 0-9 and hyphens, such as create-volume", longestID)
	}
	if s.dropFailed {
		s.fail("drop failed: only for an index: leave the option out")
	}
	if on&(selection.Seen|selection.Reported) != 0 && s.hasAttempts() {
		s.fail("a handler of events is never called again and reports nothing: leave out MaxAttempts, Within, Backoff, Errors and Reports")
	}
	if s.Optional && on&selection.Delete == 0 {
		s.fail("optional: only handlers of Delete need a finalizer: leave the option out")
	}
	if s.ResumeDeleted && on&selection.Resume == 0 {
		s.fail("while deleting: only for handlers of Resume: leave the option out")
	}
	s.validateFormerly()
	if err := s.Filter.Validate(on); err != nil {
		s.errs = append(s.errs, err)
	}
}

// hasAttempts reports whether an option says what happens after an attempt.
func (s *settings) hasAttempts() bool {
	return s.attempts.set || s.within.set || s.backoff.set || s.policy.set || len(s.reports) > 0
}

func (s *settings) validateFormerly() {
	if len(s.formerly) > 0 && s.On&(selection.Recorded|selection.Delete) == 0 && s.cron == nil {
		s.fail("formerly: nothing is recorded of this handler: leave the option out")
	}
	for _, id := range s.formerly {
		if !isID(id) {
			s.fail("formerly %q: no handler had this id: use an id that is valid", id)
		}
	}
}

// check returns all mistakes of the registration.
func (h *Handlers[T]) check() error {
	errs := append(slices.Clone(h.errs), typed.Check[T]())
	if h.kind.Kind == "" || h.kind.Version == "" {
		errs = append(errs, fmt.Errorf("kind %q: needs a version and a kind", h.kind))
	}
	if len(h.handlers) == 0 {
		errs = append(errs, errors.New("no handlers: register one by On, Field, Seen, OnClusterEvent, Timer, Cron or Daemon"))
	}
	for _, one := range h.indexes {
		errs = append(errs, one.Check())
	}
	return errors.Join(append(errs, h.config.errs...)...)
}
