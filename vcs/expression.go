package vcs

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// expression is one that names are held against.
type expression struct {
	text string
	// whole matches what is kept, part what is near to that: a part of a name, in capitals or not.
	whole, part *regexp.Regexp
}

// expressions compiles texts so that they match all of a name, or its beginning (spec: vcs 24, W13).
func expressions(what string, texts []string, prefix bool) (all []expression, err error) {
	for i, text := range texts {
		// An empty one, of a variable that isn't set, would keep nothing, or with Prefix everything.
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%s expression %d is empty", what, i+1)
		}
		// As the parser writes it nothing is open at its end, as in \Qa.
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("%s expression %d, %q: %w", what, i+1, text, positioned(text, err))
		}
		end := `\z`
		if prefix {
			end = ""
		}
		one := expression{text: text}
		if one.whole, err = regexp.Compile(`\A(?:` + parsed.String() + `)` + end); err == nil {
			one.part, err = regexp.Compile(`(?i:` + parsed.String() + `)`)
		}
		if err != nil {
			return nil, fmt.Errorf("%s expression %d, %q: %w", what, i+1, text, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// positioned says where in an expression the mistake is.
func positioned(text string, err error) error {
	var mistake *syntax.Error
	if !errors.As(err, &mistake) {
		return err
	}
	at := strings.LastIndex(text, mistake.Expr)
	if mistake.Expr == text || mistake.Expr == "" || at < 0 {
		return errors.New(mistake.Code.String())
	}
	return fmt.Errorf("%s: %q, at character %d", mistake.Code, mistake.Expr, utf8.RuneCountInString(text[:at])+1)
}

func matches(expressions []expression, name string) bool {
	return slices.ContainsFunc(expressions, func(one expression) bool { return one.whole.MatchString(name) })
}
