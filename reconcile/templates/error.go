package templates

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/operkit/operkit/reconcile/internal/failure"
)

// Error is a mistake in a template or its values. Its text contains nothing of a Secret, but the text of the wrapped
// error may.
type Error struct {
	// File is the path of the file, as in the file system given to Parse.
	File string
	// Line and Column count from 1; 0 is unknown.
	Line, Column int
	// Object is the invalid object, such as "Deployment web"; empty if it isn't known.
	Object string
	// Err is what is wrong.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.location())
	if e.Object != "" {
		text.WriteString(": " + e.Object)
	}
	return text.String() + ": " + e.Err.Error()
}

func (e *Error) location() string {
	text := e.File
	for _, number := range []int{e.Line, e.Column} {
		if number == 0 {
			break
		}
		text += ":" + strconv.Itoa(number)
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ruleError is an error of this package.
type ruleError struct {
	text string
	// plain is the text without values; empty if text has none.
	plain string
	// resource: the resource is wrong, not the template.
	resource bool
}

func (e *ruleError) Error() string { return e.text }

func rulef(plain, format string, args ...any) error {
	return &ruleError{text: fmt.Sprintf(format, args...), plain: plain}
}

// worded wraps an error and replaces its text.
type worded struct {
	text string
	error
}

func (e *worded) Error() string { return e.text }
func (e *worded) Unwrap() error { return e.error }

// located matches the beginning of errors of package template.
var located = regexp.MustCompile(`(?s)^template: (.+?):(\d+)(?::(\d+))?: (.*)$`)

// at reads the place in an error of package template.
func at(text string) (e *Error, rest string) {
	found := located.FindStringSubmatch(text)
	if found == nil {
		return &Error{}, text
	}
	e = &Error{File: found[1]}
	e.Line, _ = strconv.Atoi(found[2])
	if column, err := strconv.Atoi(found[3]); err == nil {
		e.Column = column + 1
	}
	return e, found[4]
}

// parseError converts an error of package template about the syntax of a file.
func parseError(file string, err error) error {
	e, rest := at(err.Error())
	e.File = cmp.Or(e.File, file)
	e.Err = errors.New(rest)
	return e
}

const withheld = "left out here, because it may contain values of a Secret"

// executeError converts an error of package template that occurred while file was rendered. The result names the place,
// which may be in another file, and the includes that led to that place.
func (t *Templates) executeError(file string, err error) error {
	e := &Error{File: file, Err: err}
	secretive := t.secretive[file]
	var way []string
	var within template.ExecError
	for cause := err; errors.As(cause, &within); {
		if place := e.location(); e.Line > 0 && !slices.Contains(way, place) {
			way = append(way, place)
		}
		var rest string
		e, rest = at(within.Err.Error())
		cause = errors.Unwrap(within.Err)
		e.Err = reason(rest, cause, secretive)
	}
	if e.Line == 0 && !failure.Is[*ruleError](err) && secretive {
		e.Err = &worded{"it can't be rendered: the reason is " + withheld, err}
	}
	slices.Reverse(way)
	if len(way) > 0 {
		e.Err = fmt.Errorf("%w (included by %s)", e.Err, strings.Join(way, ", by "))
	}
	return e
}

// own are the beginnings of messages of package template that quote names and types, but no values.
var own = []string{
	"map has no entry for key ", "nil data; no entry for key ", "can't evaluate field ", "nil pointer evaluating ",
	"wrong number of args for ", "wrong type for value; ", "invalid value; ", "exceeded maximum template depth ",
	"incompatible types for comparison", "dereference of nil pointer ", "expected ",
}

// reason returns an error of package template without the place; rest is the text of the error without the place.
func reason(rest string, cause error, secretive bool) error {
	source, text := rest, ""
	if split := strings.LastIndex(rest, ">: "); cause == nil && split >= 0 {
		source, text = rest[:split], rest[split+len(">: "):]
	}
	if _, source, _ = strings.Cut(source, " at <"); cause != nil {
		source, _, _ = strings.Cut(source, ">: ")
	}
	function := ""
	if found := calling.FindStringSubmatch(rest); cause != nil && found != nil {
		function = found[1] + ": "
	}
	rule, isRule := errors.AsType[*ruleError](cause)
	switch {
	case isRule && secretive && rule.plain != "":
		return &worded{rule.plain, cause}
	case isRule:
		return cause
	case secretive && (cause != nil || !slices.ContainsFunc(own, func(start string) bool { return strings.HasPrefix(text, start) })):
		return &worded{function + "the reason is " + withheld, cause}
	case cause != nil:
		return fmt.Errorf("%s%w: in {{ %s }}", function, cause, source)
	case secretive:
		return errors.New(text)
	}
	return fmt.Errorf("%s: in {{ %s }}", text, source)
}

var calling = regexp.MustCompile(`error calling (\w+): `)
