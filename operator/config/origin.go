package config

import "fmt"

// Source is what kind of thing says the value of a key.
type Source int

// The sources, from the one that has the last word only over the next.
const (
	// Program is the program itself: nobody said anything else.
	Program Source = iota
	// File is the file with settings, Environment a variable, Flag a flag.
	File
	Environment
	Flag
)

// Origin is where a value comes from. The zero value is the program itself.
type Origin struct {
	// Source is what kind of thing says it.
	Source Source
	// Name is the flag, the variable, or the file; Line the one in the file.
	Name string
	Line int
}

// String names it: "default", "--log.level", "GUESTBOOK_OPERATOR_LOG_LEVEL", "settings.yaml:3".
func (o Origin) String() string {
	switch o.Source {
	case Program:
		return "default"
	case File:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// said is how the value of a key was said there.
func (o Origin) said(key, text string) string {
	switch o.Source {
	case Environment:
		return fmt.Sprintf("%s=%q", o.Name, text)
	case File:
		return fmt.Sprintf("%s: %s: %q", o, key, text)
	case Flag:
		return fmt.Sprintf("%s %q", o.Name, text)
	}
	return fmt.Sprintf("--%s %q", key, text)
}
