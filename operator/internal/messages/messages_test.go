package messages

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	anchors := map[string]string{}
	for _, section := range Sections() {
		names := map[string]bool{}
		for _, e := range section.Entries {
			assert.False(t, names[e.Name], "%s: two entries of a section have this name", e.Name)
			names[e.Name] = true
			assert.Empty(t, anchors[e.Anchor()], "%s: another entry has this anchor", e.Name)
			anchors[e.Anchor()] = e.Name
			for what, text := range map[string]string{"meaning": e.Meaning, "cause": e.Cause, "remedy": e.Remedy} {
				assert.Regexp(t, `(?s)^[A-Z\x60\[].*[.]$`, text, "%s: its %s is no sentence", e.Name, what)
			}
			assert.Equal(t, section.Title == "Errors", e.Where == "", "%s: where it is met", e.Name)
			for _, text := range e.Texts {
				assert.NotContains(t, text, "`", e.Name)
			}
		}
		assert.Empty(t, anchors[File+"#"+slug(section.Title)], "%s: an entry has the anchor of the section", section.Title)
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"ConfigError":                      "configerror",
		"status not written":               "status-not-written",
		"deploy.OwnedError":                "deployownederror",
		"can't discover all kinds, again":  "cant-discover-all-kinds-again",
		"Paused (of a Deployment)":         "paused-of-a-deployment",
		"status_1: it isn't 2030-01-31T18": "status_1-it-isnt-2030-01-31t18",
	} {
		assert.Equal(t, want, slug(heading))
	}
}

// The page is the one that the generator makes, and its links to itself lead to entries.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../guide/" + File)
	require.NoError(t, err)
	assert.Equal(t, Page(), string(page), "run make generate")
	anchors := map[string]bool{}
	for _, section := range Sections() {
		anchors[slug(section.Title)] = true
		for _, e := range section.Entries {
			anchors[slug(e.Heading())] = true
		}
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(string(page), -1) {
		assert.True(t, anchors[link[1]], "no entry has the anchor %s", link[1])
	}
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "### ") && !strings.Contains(line, "`") {
			assert.LessOrEqual(t, len(strings.TrimSpace(line)), columns, line)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, text string
		want         []string
	}{
		{"a reason", "ConfigError", []string{"ConfigError"}},
		{"in small letters", "configerror", []string{"ConfigError"}},
		{"with several meanings", "paused", []string{"Paused", "Paused (of a Deployment)"}},
		{"one of several meanings", "Paused (of a Deployment)", []string{"Paused (of a Deployment)"}},
		{"an error", "deploy.OwnedError", []string{"deploy.OwnedError"}},
		{"a part of its name", "OwnedError", []string{"deploy.OwnedError"}},
		{"a whole line of the log", "status not written", []string{"status not written"}},
		{"words of a text", "hasn't  observed the\nobject yet", []string{"ObservedGenerationMissing"}},
		{"a message from a status", "redis: StatefulSet hello-redis: InProgress (the controller hasn't observed the object yet); web waits", []string{"ObservedGenerationMissing"}},
		{"a message with numbers", "Deployment web: InProgress (1 of 2 replicas are ready)", []string{"LessReady"}},
		{"a part of it is a text of another entry", "component web: Deployment shop/web: exists already and was not created for this owner: delete it, rename our object, or allow its adoption", []string{"deploy.OwnedError"}},
		{"the whole of another entry's text", "Deployment shop/web: exists already: conflict", []string{"deploy.AlreadyExistsError"}},
		{"admission", `secrets: create in namespace shop was refused: secrets "a" is forbidden: exceeded quota`, []string{"deploy.ForbiddenError"}},
		{"a long word", `web: Deployment web: InProgress (1 of 2 replicas are ready: Pod web-x: container "web" waits: CrashLoopBackOff: back-off 10s)`, []string{"CrashLoopBackOff", "LessReady"}},
		{"a panic", "setup: panic: runtime error: index out of range [1] with length 0", []string{"dag.PanicError"}},
		{"nothing", "", nil},
		{"nothing known", "the moon is full", nil},
	} {
		var got []string
		for _, found := range Find(row.text) {
			got = append(got, found.Heading())
		}
		assert.Equal(t, row.want, got, row.reason)
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	assert.True(t, Known("VerifyWait"))
	assert.False(t, Known("LessReady"), "a reason of readiness")
	assert.False(t, Known(""))
}

func TestHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := slog.New(NewHandler(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
	const link = " help=messages.md#status-not-written\n"
	for _, row := range []struct {
		reason string
		log    func()
		want   string
	}{
		{"a warning", func() { logger.Warn("status not written", "error", "x") }, `level=WARN msg="status not written" error=x` + link},
		{"an error", func() { logger.Error("status not written") }, `level=ERROR msg="status not written"` + link},
		{"with attributes of the logger", func() { logger.With("object", "tea").Warn("status not written") }, `level=WARN msg="status not written" object=tea` + link},
		{"in a group", func() { logger.WithGroup("g").Warn("status not written") }, `level=WARN msg="status not written" g.help=messages.md#status-not-written` + "\n"},
		{"less than a warning", func() { logger.Info("status not written") }, `level=INFO msg="status not written"` + "\n"},
		{"not in the table", func() { logger.Warn("own words") }, `level=WARN msg="own words"` + "\n"},
		{"a reason is no line", func() { logger.Warn("ConfigError") }, "level=WARN msg=ConfigError\n"},
	} {
		t.Run("messages 3: "+row.reason, func(t *testing.T) {
			out.Reset()
			row.log()
			assert.Equal(t, row.want, out.String())
		})
	}
	assert.Empty(t, Help("not paused: the annotation is neither true nor a time such as 2030-01-31T18:00:00Z"), "a long message explains itself")
}

// A line of a level below warning costs no memory.
func TestHandlerAllocates(t *testing.T) {
	record := slog.NewRecord(time.Time{}, slog.LevelInfo, "status not written", 0)
	helping := NewHandler(silent{})
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = helping.Handle(t.Context(), record) }))
}

// silent passes nothing on.
type silent struct{ slog.Handler }

func (silent) Handle(context.Context, slog.Record) error { return nil }
