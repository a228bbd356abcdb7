package status

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrorReason is one row of a table from errors to conditions. ErrorIs and
// ErrorAs make the usual ones.
type ErrorReason struct {
	// Match tells whether the row is about an error. nil matches every one.
	Match func(err error) bool
	// Reason is the reason of the condition. ReasonOf, when set, answers it for
	// the error instead; what no condition may have as its reason falls back to
	// Reason, and to "Error" when that is empty.
	Reason   string
	ReasonOf func(err error) string
	// Status is the status of the condition; empty is the bad one of its type.
	// An error that will pass by itself may rather be Unknown.
	Status metav1.ConditionStatus
}

// ErrorIs is the row of errors that are a target, in the sense of errors.Is.
func ErrorIs(target error, reason string) ErrorReason {
	return ErrorReason{Reason: reason, Match: func(err error) bool { return errors.Is(err, target) }}
}

// ErrorAs is the row of errors of a type, in the sense of errors.As. The reason
// is what the function makes of the error.
func ErrorAs[T error](reason func(err T) string) ErrorReason {
	return ErrorReason{
		Match: func(err error) bool {
			var target T
			return errors.As(err, &target)
		},
		ReasonOf: func(err error) string {
			var target T
			if reason == nil || !errors.As(err, &target) {
				return ""
			}
			return reason(target)
		},
	}
}

const reasonError = "Error"

// judge answers status and reason for an error of a declared type.
func (d Declared) judge(err error) (metav1.ConditionStatus, string) {
	for _, row := range d.Errors {
		if row.Match != nil && !row.Match(err) {
			continue
		}
		status, reason := d.bad(), row.Reason
		if row.Status != "" {
			status = row.Status
		}
		if row.ReasonOf != nil {
			if own := row.ReasonOf(err); len(own) <= MaxReasonLength && reasonFits(own) {
				reason = own
			}
		}
		if reason == "" {
			reason = reasonError
		}
		return status, reason
	}
	return d.bad(), reasonError
}

func validateTable(d Declared) error {
	for i, row := range d.Errors {
		c := metav1.Condition{Type: d.Type, Status: d.bad(), Reason: reasonError}
		if row.Reason != "" {
			c.Reason = row.Reason
		}
		if row.Status != "" {
			c.Status = row.Status
		}
		if err := validateContent(&c); err != nil {
			return fmt.Errorf("row %d of the error table: %w", i+1, err)
		}
	}
	return nil
}
