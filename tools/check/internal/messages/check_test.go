package messages_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/messages"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

const page = `# Messages

## Reasons of conditions

### Stable

Ready: True.

It is ready.

## Reasons of events

### Created

Normal; text: ` + "`was made by`" + `.

## Reasons of readiness

### LessReady

### Paused (of a Deployment)

## Lines in the log

### it failed: try again

## Errors

### deploy.GoneError
`

// code has each message of the page.
var code = repotest.Files{
	"status/reasons.go": "package status\n\ntype ReadyReason string\n\nconst ReadyStable ReadyReason = \"Stable\"\n\n" +
		"const made = \"%s was made by %s\"\n",
	"reconcile/events.go":       "package reconcile\n\nconst EventCreated = \"Created\"\n",
	"status/readiness/rules.go": "package readiness\n\nfunc rule() { inProgress(cmp.Or(v.reason, \"LessReady\"), \"text\"); remark(\"Paused\", \"\") }\n",
	"deploy/errors.go":          "package deploy\n\n// GoneError is an error.\ntype GoneError struct{}\n\nfunc (e *GoneError) Error() string { return \"\" }\n",
	"operator/run.go":           "package operator\n\nfunc run() { p.logger.Warn(\"it failed: \"+\n\t\"try again\", \"error\", err) }\n",
}

var modules = []string{"status", "reconcile", "deploy", "operator"}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, file, text string
		want               []string
	}{
		{"all have an entry", "", "", nil},
		{"a constant reason", "status/more.go", "package status\n\nconst reasonLost = \"Lost\"\n", []string{`status/more.go:3: "Lost" has no entry in the section "Reasons of conditions"`}},
		{"a reason in a struct", "reconcile/a.go", "package reconcile\n\nvar c = metav1.Condition{Reason: \"Lost\"}\n", []string{`reconcile/a.go:3: "Lost" has no entry in the section "Reasons of conditions"`}},
		{"a reason that is assigned", "operator/a.go", "package operator\n\nfunc f() { s.Reason, s.Message = \"Lost\", \"x\" }\n", []string{`"Lost" has no entry in the section "Reasons of conditions"`}},
		{"a sentence is no reason", "deploy/a.go", "package deploy\n\nvar e = InvalidError{Reason: \"its name is empty\"}\n", nil},
		{"a reason of another package's check", "status/readiness/b.go", "package readiness\n\nvar checks = []atLeast{{\"replicas\", 1, \"LessThere\", \"there\"}}\n", []string{`"LessThere" has no entry in the section "Reasons of readiness"`}},
		{"a condition that is a reason", "status/readiness/b.go", "package readiness\n\nvar changes = [...]struct{ condition, text string }{{\"Resizing\", \"it grows\"}}\n", []string{`"Resizing" has no entry`}},
		{"a reason that is distinguished", "status/readiness/b.go", "package readiness\n\nfunc g(reason string) {\n\tswitch reason {\n\tcase \"Crashes\":\n\t}\n}\n", []string{`status/readiness/b.go:5: "Crashes" has no entry`}},
		{"a reason that is compared", "status/readiness/b.go", "package readiness\n\nfunc g() bool { return v.reason == \"Crashes\" }\n", []string{`"Crashes" has no entry`}},
		{"the third argument", "status/readiness/b.go", "package readiness\n\nfunc g() { waits(\"Ready\", v, \"NotThere\", \"\") }\n", []string{`"NotThere" has no entry`}},
		{"an event of a literal", "reconcile/b.go", "package reconcile\n\nfunc g() { s.Event(event.Warning, \"Hung\", \"it hangs\") }\n", []string{`"Hung" has no entry in the section "Reasons of events"`}},
		{"an event in a struct", "reconcile/b.go", "package reconcile\n\nvar e = event.Event{Reason: \"Hung\"}\n", []string{`"Hung" has no entry in the section "Reasons of events"`}},
		{"a warning with a context", "deploy/c.go", "package deploy\n\nfunc g() { log.WarnContext(ctx, \"gone\") }\n", []string{`deploy/c.go:3: "gone" has no entry in the section "Lines in the log"`}},
		{"any level", "deploy/c.go", "package deploy\n\nfunc g() { log.Log(ctx, level, \"gone\") }\n", []string{`"gone" has no entry`}},
		{"less than a warning", "deploy/c.go", "package deploy\n\nfunc g() { log.Info(\"gone\"); log.Debug(\"gone\") }\n", nil},
		{"a constant message", "deploy/c.go", "package deploy\n\nconst lost = \"it is gone\"\n\nfunc g() { log.Error(lost) }\n", []string{`"it is gone" has no entry`}},
		{"a message that a function passes on", "deploy/c.go", "package deploy\n\nfunc say(kind, why string) { once.Do(func() { log.Error(why, kind) }) }\n\nfunc g() { say(\"A\", \"it is gone\") }\n", []string{`deploy/c.go:5: "it is gone" has no entry`}},
		{"a message that a field passes on", "deploy/c.go", "package deploy\n\nvar j = judge{Unread: func(message string) { log.Warn(message) }}\n\nfunc g() { j.Unread(\"it is gone\") }\n", []string{`"it is gone" has no entry`}},
		{"a method in a variable", "deploy/c.go", "package deploy\n\nfunc g() { log := logger.Warn; log(\"it is gone\") }\n", []string{`"it is gone" has no entry`}},
		{"a method that is passed", "deploy/c.go", "package deploy\n\nfunc say(what string) { by(logger.Warn, what) }\n\nfunc g() { say(\"it is gone\"); by(logger.Info, \"it is there\") }\n", []string{`"it is gone" has no entry`}},
		{"tests don't count", "deploy/c_test.go", "package deploy\n\nfunc g() { log.Warn(\"gone\") }\n", nil},
		{"nor what imports package testing", "deploy/c.go", "package deploy\n\nimport \"testing\"\n\nfunc g(t *testing.T) { t.Error(\"gone\") }\n", nil},
		{"an error type", "deploy/d.go", "package deploy\n\nfunc (LostError) Error() string { return \"\" }\n", []string{`"deploy.LostError" has no entry in the section "Errors"`}},
		{"an error variable", "deploy/d.go", "package deploy\n\nvar ErrLost = errors.New(\"lost\")\n", []string{`"deploy.ErrLost" has no entry`}},
		{"no exported error", "deploy/d.go", "package deploy\n\nvar errLost = errors.New(\"lost\")\n\nfunc (lostError) Error() string { return \"\" }\n\nvar ErrorKind = 1\n", nil},
		{"nobody can import it", "deploy/internal/d/d.go", "package d\n\nvar ErrLost = errors.New(\"lost\")\n", nil},
		{"the table itself", "operator/internal/messages/a.go", "package messages\n\nconst reasonLost = \"Lost\"\n", nil},
		{"another module", "tools/x/a.go", "package x\n\nconst reasonLost = \"Lost\"\n", nil},
		{"gone from the code", "reconcile/events.go", "package reconcile\n", []string{`operator/guide/messages.md:13: the code has no "Created" any more`}},
		{"a text that the code doesn't have", "status/reasons.go", strings.Replace(code["status/reasons.go"], "was made by", "was created by", 1), []string{`operator/guide/messages.md:13: no text of the code contains "was made by": correct the entry Created`}},
		{"an unknown section", messages.Page, page + "\n## More\n", []string{`operator/guide/messages.md:31: unknown section "More"`}},
		{"it doesn't parse", "deploy/e.go", "package deploy\n\nfunc {\n", []string{"deploy/e.go:3:6: expected 'IDENT'"}},
	} {
		t.Run("messages 1: "+row.reason, func(t *testing.T) {
			t.Parallel()
			files := repotest.Files{messages.Page: page}
			for name, text := range code {
				files[name] = text
			}
			if row.file != "" {
				files[row.file] = row.text
			}
			report, err := messages.Check(t.Context(), repotest.New(t, append(modules, "tools/x"), files), repository.Options{})
			if err != nil {
				report.Problems = append(report.Problems, err.Error())
			}
			if len(report.Problems) != len(row.want) {
				t.Fatalf("problems %q, want %q", report.Problems, row.want)
			}
			for i, want := range row.want {
				if !strings.Contains(report.Problems[i], want) {
					t.Errorf("problem %q, want %q", report.Problems[i], want)
				}
			}
		})
	}
}

func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	if report, err := messages.Check(t.Context(), repotest.New(t, []string{"dag"}, nil), repository.Options{}); err != nil || len(report.Problems) > 0 {
		t.Errorf("without an operator: %v, %v", report, err)
	}
	if _, err := messages.Check(t.Context(), repotest.New(t, []string{"operator"}, nil), repository.Options{}); err == nil {
		t.Error("an operator without the page passes")
	}
}
