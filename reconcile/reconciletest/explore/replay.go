package explore

import (
	"fmt"
	"strings"
)

// script is what a line of a replay means: the name of a life, what it is without, and a plan.
type script struct {
	name string
	cuts cutList
	plan plan
}

// String returns the line: "Shop tea with spec.size: 3 | without spec.sign,chapter 1 | kill-after@1.2". Parts of which
// there is nothing are left out.
func (s script) String() string {
	parts := []string{s.name}
	if len(s.cuts) > 0 {
		parts = append(parts, s.cuts.String())
	}
	if len(s.plan) > 0 {
		parts = append(parts, s.plan.String())
	}
	return strings.Join(parts, between)
}

func (w cutList) String() string { return withoutWord + strings.Join(w, ",") }

const (
	between     = " | "
	withoutWord = "without "
)

// parseScript is the inverse of script.String. The name may contain the separator, within quotes.
func parseScript(line string) (s script, err error) {
	s.name = strings.TrimRight(line, " |")
	if at := strings.LastIndex(s.name, between); at >= 0 && isPlan(s.name[at+len(between):]) {
		if s.plan, err = parsePlan(s.name[at+len(between):]); err != nil {
			return s, err
		}
		s.name = s.name[:at]
	}
	if at := strings.LastIndex(s.name, between+withoutWord); at >= 0 {
		s.cuts = strings.Split(s.name[at+len(between+withoutWord):], ",")
		s.name = s.name[:at]
	}
	return s, nil
}

// isPlan reports whether the last part of a line is meant as a plan, and not as the end of a quoted value.
func isPlan(text string) bool { return strings.Contains(text, "@") && !strings.HasSuffix(text, `"`) }

// replay follows the line of one finding. If adapt is set, a disturbance of which the request is gone moves to the
// nearest request that can be disturbed so: the operator may have been mended.
func (e *explorer) replay(line string, lives []life, adapt bool) error {
	s, err := parseScript(line)
	if err != nil {
		return err
	}
	whole, err := e.named(s.name, lives)
	if err != nil {
		return fmt.Errorf("replay %q: %w", line, err)
	}
	l, err := s.cuts.apply(whole)
	if err != nil {
		return fmt.Errorf("replay %q: %w: copy the line from a finding", line, err)
	}
	before := len(e.findings)
	known, err := e.learn(l)
	if err != nil {
		return err
	}
	if known != nil {
		if adapt {
			s.plan = e.adapted(known, s.plan)
		}
		tr, err := e.attempt(known, s.plan)
		if err != nil {
			return fmt.Errorf("replay %q: %w", line, err)
		}
		e.note(e.judge(known, tr))
	}
	for _, f := range e.findings[before:] {
		f.whole, f.cuts = whole, s.cuts
	}
	return nil
}

// adapted returns a plan that fits a life as far as possible.
func (e *explorer) adapted(known *lesson, p plan) (fitting plan) {
	for _, c := range p {
		tr, err := e.attempt(known, fitting)
		if err != nil {
			return p
		}
		if nearest := e.alike(tr, armed{choice: c}); len(nearest) > 0 {
			c = nearest[0]
		}
		fitting = append(fitting, c)
	}
	return fitting
}

// named returns the life of that name.
func (e *explorer) named(name string, lives []life) (life, error) {
	for _, l := range lives {
		if l.name == name {
			return l, nil
		}
		if l.sample == nil || !strings.HasPrefix(name, l.name+" while ") {
			continue
		}
		found := e.findings
		known, err := e.learn(l)
		e.findings = found
		if err != nil || known == nil {
			return l, err
		}
		for _, one := range e.unready(known) {
			if one.name == name {
				return one, nil
			}
		}
	}
	return life{}, fmt.Errorf("no sample and no edit of it has this name: copy the line from a finding")
}
