package setupcommand

import (
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/vcs"
)

// text returns the report for people. It is columns wide; 0 means no limit.
func (s *settings) text(report vcs.Report, columns int) string {
	kept := [][]string{{"KEPT", "KIND", "COMMIT", "TREE"}}
	for _, one := range report.Kept {
		kept = append(kept, []string{printable(one.Name), string(one.Ref.Kind), short(string(one.Commit)), short(one.Tree)})
	}
	text := table(kept, columns) + "\n"
	if len(report.Skipped) > 0 {
		skipped := [][]string{{"SKIPPED", "KIND", "REASON"}}
		for _, one := range report.Skipped[:min(len(report.Skipped), maxLines)] {
			skipped = append(skipped, []string{printable(one.Ref.Name), string(one.Ref.Kind), printable(one.Reason)})
		}
		text += table(skipped, columns)
		if more := len(report.Skipped) - maxLines; more > 0 {
			text += strings.Join(wrap(fmt.Sprintf("and %d more: -o json has all of them", more), columns), "\n") + "\n"
		}
		text += "\n"
	}
	return text + strings.Join(wrap(s.summary(report), columns), "\n") + "\n"
}

// summary returns one line about the result.
func (s *settings) summary(report vcs.Report) string {
	content := fmt.Sprintf("%s, %s", amount(len(report.Kept), "version"), amount(report.Objects, "object"))
	source := fmt.Sprintf("(source: %s)", size(report.SourceBytes))
	if s.dryRun {
		return fmt.Sprintf("%s: nothing is written: the new repository would have %s %s", printable(s.destination), content, source)
	}
	verified := ""
	if s.verify {
		verified = ", verified"
	}
	return fmt.Sprintf("%s: %s, %s %s, in %s%s", printable(s.destination), content, size(report.Bytes), source, duration(report.Took), verified)
}

func amount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// shown is the number of digits of an id in the report.
const shown = 12

func short(id string) string { return id[:min(len(id), shown)] }

// size returns a number of bytes with a unit.
func size(bytes int64) string {
	const step = 1000
	if bytes < step {
		return amount(int(bytes), "byte")
	}
	value, unit := float64(bytes), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB"} {
		// A value that rounds up to 1000 gets the next unit.
		if value /= step; value < step-0.5 {
			break
		}
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

// duration returns a duration with a few digits.
func duration(took time.Duration) string {
	switch {
	case took < time.Second:
		return took.Round(time.Millisecond).String()
	case took < time.Minute:
		return took.Round(time.Second / 10).String()
	}
	return took.Round(time.Second).String()
}
