package watches

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// The annotations with which a resource has settings of its own.
const (
	ReconcilePeriodAnnotation    = "ansible.sdk.operatorframework.io/reconcile-period"
	MaxRunnerArtifactsAnnotation = "ansible.sdk.operatorframework.io/max-runner-artifacts"
	VerbosityAnnotation          = "ansible.sdk.operatorframework.io/verbosity"
)

// Annotations returns the annotations with which a resource has settings of its own.
func Annotations() []string {
	return []string{ReconcilePeriodAnnotation, MaxRunnerArtifactsAnnotation, VerbosityAnnotation}
}

// shortestPeriod is the shortest period that an annotation may set: whoever may write a resource must not be able to
// keep all workers busy with it.
const shortestPeriod = time.Second

// Settings are what a resource may set by annotations.
type Settings struct {
	// ReconcilePeriod is the time after which the resource is reconciled again. Zero means the default of the program.
	ReconcilePeriod time.Duration
	// MaxRunnerArtifacts is how many runs are kept. If it isn't positive, all are.
	MaxRunnerArtifacts int
	// Verbosity is how much a run writes, from 0 to MaxVerbosity.
	Verbosity int
}

// Override returns the settings of a resource: what its annotations set, and otherwise those of s. The error has all
// mistakes; a setting with a mistake is that of s.
func (s Settings) Override(annotations map[string]string) (Settings, error) {
	var errs []error
	if text, ok := annotations[ReconcilePeriodAnnotation]; ok {
		period, err := time.ParseDuration(text)
		if err != nil || period != 0 && period < shortestPeriod {
			errs = append(errs, fmt.Errorf("annotation %s: %.60q: must be a time of at least %s, such as 1h30m", ReconcilePeriodAnnotation, text, shortestPeriod))
		} else {
			s.ReconcilePeriod = period
		}
	}
	for _, number := range []struct {
		annotation  string
		least, most int
		to          *int
	}{
		{MaxRunnerArtifactsAnnotation, math.MinInt32, math.MaxInt32, &s.MaxRunnerArtifacts},
		{VerbosityAnnotation, 0, MaxVerbosity, &s.Verbosity},
	} {
		text, ok := annotations[number.annotation]
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < number.least || n > number.most {
			errs = append(errs, fmt.Errorf("annotation %s: %.60q: must be a number from %d to %d", number.annotation, text, number.least, number.most))
			continue
		}
		*number.to = n
	}
	return s, errors.Join(errs...)
}
