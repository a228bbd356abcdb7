package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// InvalidManifestError reports that an object can't be sent. No call was made.
type InvalidManifestError struct {
	// Ref names the object. It has only the parts that the manifest has. Reason says what is wrong.
	Ref    Ref
	Reason string
}

// Error names the object and says what is wrong with it.
func (e *InvalidManifestError) Error() string {
	return fmt.Sprintf("%s: invalid manifest: %s", describe(e.Ref), e.Reason)
}

// KindUnknownError reports that the cluster doesn't serve a kind.
type KindUnknownError struct {
	// Kind is the kind as it was requested.
	Kind schema.GroupVersionKind
}

// Error names the kind and says what to do.
func (e *KindUnknownError) Error() string {
	kind := e.Kind.Kind
	if version := strings.TrimSuffix(e.Kind.GroupVersion().String(), "/"); version != "" {
		kind += " of " + version
	}
	return fmt.Sprintf("kind %s is not served by the cluster: install its CustomResourceDefinition or correct apiVersion and kind", kind)
}

// AmbiguousKindError reports that several kinds have a name that was given without a group.
type AmbiguousKindError struct {
	// Name is the name that was looked up.
	Name string
	// Candidates are the kinds that the name may mean, ascending.
	Candidates []schema.GroupVersionKind
}

// Error lists the kinds.
func (e *AmbiguousKindError) Error() string {
	names := make([]string, len(e.Candidates))
	for i, kind := range e.Candidates {
		names[i] = kind.Kind + " of " + kind.GroupVersion().String()
	}
	return fmt.Sprintf("kind %q is ambiguous: name the apiVersion of one of %s", e.Name, strings.Join(names, ", "))
}

// NotFoundError reports that an object doesn't exist.
type NotFoundError struct {
	// Ref names the object. Err is the error of the cluster, nil if no request was sent.
	Ref Ref
	Err error
}

// Error names the object.
func (e *NotFoundError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: not found", e.Ref)
	}
	return fmt.Sprintf("%s: not found: %v", e.Ref, e.Err)
}

// Unwrap returns Err.
func (e *NotFoundError) Unwrap() error { return e.Err }

// AlreadyExistsError reports that an object can't be created because it exists.
type AlreadyExistsError struct {
	// Ref names the object, Err is the error of the cluster.
	Ref Ref
	Err error
}

// Error names the object.
func (e *AlreadyExistsError) Error() string {
	return fmt.Sprintf("%s: exists already: %v", e.Ref, e.Err)
}

// Unwrap returns Err.
func (e *AlreadyExistsError) Unwrap() error { return e.Err }

// ForbiddenError reports that a request was forbidden: by RBAC, because a permission is missing, or by admission, for
// example by a quota. Err has the reason.
type ForbiddenError struct {
	// Verb is the verb of the request and Resource its resource. Namespace is empty at cluster scope. Name is empty if
	// the request wasn't about a single object.
	Verb      string
	Resource  schema.GroupResource
	Namespace string
	Name      string
	// Content reports that admission refused the content of the write, for example because of a policy, a limit or the
	// class of a claim. The cluster refuses it again until the object or the policy changes.
	Content bool
	// Err is the error of the cluster.
	Err error
}

// Error says what was forbidden, and what to do when a permission is missing.
func (e *ForbiddenError) Error() string {
	where := "at cluster scope"
	if e.Namespace != "" {
		where = "in namespace " + e.Namespace
	}
	if !e.MissingRight() {
		return fmt.Sprintf("%s: %s %s was refused: %v", e.Resource, e.Verb, where, e.Err)
	}
	return fmt.Sprintf("%s: not allowed to %s %s %s: grant it by RBAC: %v", e.Resource, e.Verb, e.Resource, where, e.Err)
}

// MissingRight reports whether a permission is missing, according to the text of the error. If it returns false,
// admission refused the request, for example because of a quota or because the namespace is being deleted.
func (e *ForbiddenError) MissingRight() bool {
	if e.Err == nil {
		return false
	}
	text := e.Err.Error()
	return strings.Contains(text, " cannot ") && strings.Contains(text, " resource ") || escalates(e.Err)
}

// escalates reports whether a write of a role was refused because its author doesn't have the rights that it grants.
func escalates(err error) bool {
	return strings.Contains(err.Error(), "attempting to grant RBAC permissions not currently held")
}

// Unwrap returns Err.
func (e *ForbiddenError) Unwrap() error { return e.Err }

// ConflictError reports that other managers hold fields of the intent.
type ConflictError struct {
	// Ref names the object.
	Ref Ref
	// Fields are the contested fields in the API server's notation, each with its manager.
	Fields []FieldConflict
	// Fought reports that the fields were taken over too often, and are left to their managers from now on. All other
	// fields of the intent are applied.
	Fought bool
	// SameManager reports that another process repeatedly applies the object with another intent under this manager's
	// own name. The object isn't written before RetryAfter has passed. The error is returned even at times when the
	// object is as intended.
	SameManager bool
	RetryAfter  time.Duration
	// Err is the error of the API server, nil if no request was sent.
	Err error
}

// FieldConflict is one contested field.
type FieldConflict struct {
	// Field is the path of the field in the API server's notation, such as .spec.replicas.
	Field string
	// Manager is the manager that owns the field. It is empty if the API server doesn't name the manager.
	Manager string
	// Message is the message of the API server.
	Message string
}

// Left formats a field of Result.Kept, such as "spec.replicas: left to kubectl, which set 5".
func (c FieldConflict) Left() string {
	left := "left to " + c.Manager
	if strings.HasPrefix(c.Message, left) {
		left = c.Message
	}
	return strings.TrimPrefix(c.Field, ".") + ": " + left
}

// ManagerOf returns the manager that the API server's message about a contested field names, such as `conflict with
// "kubectl-client-side-apply" using apps/v1`. It returns "" if the message names none.
func ManagerOf(message string) string {
	_, rest, _ := strings.Cut(message, `conflict with `)
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return ""
	}
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return ""
	}
	return name
}

// Error lists the fields and their managers.
func (e *ConflictError) Error() string {
	fields := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		fields[i] = f.Field + " (" + f.Message + ")"
	}
	if e.SameManager && len(e.Fields) > 0 {
		return fmt.Sprintf("%s: another process applies this object as the same field manager %q, with other content, again and again: "+
			"is the operator installed twice? Stop one of the two processes, or let each manage other resources", e.Ref, e.Fields[0].Manager)
	}
	if e.Fought {
		return fmt.Sprintf("%s: another manager sets fields again and again, so they are left to it: %s: let only one of the two managers set them",
			e.Ref, strings.Join(fields, ", "))
	}
	return fmt.Sprintf("%s: fields belong to another manager: %s: leave them out of the manifest, or take them over by the option deploy.Conflicts",
		e.Ref, strings.Join(fields, ", "))
}

// Unwrap returns Err.
func (e *ConflictError) Unwrap() error { return e.Err }

// StaleError reports that the object changed, or was replaced by a new object, since it was read.
type StaleError struct {
	// Ref names the object, Err is the error of the cluster.
	Ref Ref
	Err error
}

// Error names the object.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%s: changed since it was read: %v", e.Ref, e.Err)
}

// Unwrap returns Err.
func (e *StaleError) Unwrap() error { return e.Err }

// InvalidError reports that the cluster refused the content of an object.
type InvalidError struct {
	// Ref names the object.
	Ref Ref
	// Causes are the fields that were refused, as far as the cluster names them.
	Causes []InvalidField
	// TooLarge reports that the object or the request is larger than the cluster accepts.
	TooLarge bool
	// Err is the error of the cluster.
	Err error
}

// InvalidField is one field that was refused.
type InvalidField struct {
	// Field is its path, such as spec.replicas. It is empty if the object as a whole was refused.
	Field string
	// Message is the cluster's message about the field.
	Message string
}

// Error returns the object and the cluster's message.
func (e *InvalidError) Error() string { return fmt.Sprintf("%s: refused: %v", describe(e.Ref), e.Err) }

// Unwrap returns Err.
func (e *InvalidError) Unwrap() error { return e.Err }

// UnavailableError reports that the cluster didn't respond, or asked to retry later.
type UnavailableError struct {
	// Ref names the object. It has no name if the request wasn't about a single object.
	Ref Ref
	// RetryAfter is the pause that the server asked for, zero if it asked for none.
	RetryAfter time.Duration
	// Err is the error of the connection or the server.
	Err error
}

// Error names the object, if the request was about a single object.
func (e *UnavailableError) Error() string {
	if e.Ref.Name == "" {
		return fmt.Sprintf("API server unavailable: %v", e.Err)
	}
	return fmt.Sprintf("%s: API server unavailable: %v", e.Ref, e.Err)
}

// Unwrap returns Err.
func (e *UnavailableError) Unwrap() error { return e.Err }

// TimeoutError reports that a request or a wait took longer than the caller allowed.
type TimeoutError struct {
	// Ref names the object.
	Ref Ref
	// Reason says what the call waited for, and why that didn't happen.
	Reason string
	// Err is the error of the context.
	Err error
}

// Error says what the call waited for.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s: not in time: %s: %v", e.Ref, e.Reason, e.Err)
}

// Unwrap returns Err.
func (e *TimeoutError) Unwrap() error { return e.Err }

// OwnedError reports that an object exists and belongs to somebody else.
type OwnedError struct {
	// Ref names the object.
	Ref Ref
	// Owner describes the owner, empty if there is none.
	Owner string
	// Deletion reports that the caller wanted to delete the object.
	Deletion bool
	// Label is the label that names Owner. It is empty unless the object belongs to Owner by label alone
	// (OwnedByLabel). Then it isn't known whether Owner still exists.
	Label string
	// remedy says what to do about the label if Owner is gone.
	remedy string
}

// Error says who owns the object, and what to do.
func (e *OwnedError) Error() string {
	switch {
	case e.Deletion && e.Label != "":
		return fmt.Sprintf("%s: belongs to %s and isn't ours to delete: if that owner is gone, delete this object with kubectl or the option deploy.EvenForeign", e.Ref, e.Owner)
	case e.Label != "":
		return fmt.Sprintf("%s: belongs to %s by its label %s already: rename our object, delete the existing one, or, if that owner is gone, %s",
			e.Ref, e.Owner, e.Label, cmp.Or(e.remedy, "remove the label"))
	case e.Deletion && e.Owner == "":
		return fmt.Sprintf("%s: isn't ours to delete: to delete it anyway, use kubectl or the option deploy.EvenForeign", e.Ref)
	case e.Deletion:
		return fmt.Sprintf("%s: belongs to %s and isn't ours to delete: to delete it anyway, use kubectl or the option deploy.EvenForeign", e.Ref, e.Owner)
	case e.Owner == "":
		return fmt.Sprintf("%s: exists already and was not created for this owner: delete it, rename our object, or allow its adoption by the option deploy.Adopt", e.Ref)
	}
	return fmt.Sprintf("%s: belongs to %s already: rename our object, or delete the existing one", e.Ref, e.Owner)
}

// TerminatingError reports that an object is being deleted and can't be applied until it is gone.
type TerminatingError struct {
	// Ref names the object. Finalizers are the finalizers that block its deletion.
	Ref        Ref
	Finalizers []string
}

// Error says what the object waits for.
func (e *TerminatingError) Error() string {
	if len(e.Finalizers) == 0 {
		return fmt.Sprintf("%s: is being deleted; it is applied again once it is gone", e.Ref)
	}
	return fmt.Sprintf("%s: is being deleted and waits for %s; it is applied again once it is gone",
		e.Ref, strings.Join(e.Finalizers, ", "))
}

// is reports whether an error in the tree of err is an E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func isDeadline(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

func describe(ref Ref) string {
	if ref.Kind.Kind == "" && ref.Name == "" {
		return "object without kind and name"
	}
	if ref.Kind.Kind == "" {
		return fmt.Sprintf("object %q without kind", ref.Name)
	}
	if ref.Name == "" {
		return ref.Kind.Kind + " without name"
	}
	return ref.String()
}
