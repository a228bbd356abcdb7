package settings

import "fmt"

// Source is the kind of source of a value.
type Source int

// The sources: a later one overrides an earlier one.
const (
	// Program is the default of the program.
	Program Source = iota
	// File is the file with settings, Environment an environment variable, and Flag a flag.
	File
	Environment
	Flag
)

// Origin is where a value comes from. The zero value is the default of the program.
type Origin struct {
	Source Source
	// Name is the flag, the variable, or the file; Line is the line in the file.
	Name string
	Line int
}

// String returns its name: "default", "--log.level", "GUESTBOOK_OPERATOR_LOG_LEVEL", "settings.yaml:3".
func (o Origin) String() string {
	switch o.Source {
	case Program:
		return "default"
	case File:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// said returns a key and its value in the spelling of this source.
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
