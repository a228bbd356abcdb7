package messages

import (
	"slices"
	"strings"
	"sync"
)

// Found is an entry with what it is, such as "reason of a condition".
type Found struct {
	Entry
	One string
}

// Find returns the entries for a reason, for words of a message, or for a whole message. Case doesn't matter. If
// entries have exactly this name, it returns only these.
func Find(text string) (found []Found) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return nil
	}
	for _, matches := range []func(Entry) bool{
		func(e Entry) bool { return strings.ToLower(e.Name) == text || strings.ToLower(e.Heading()) == text },
		func(e Entry) bool {
			return slices.ContainsFunc(e.texts(), func(t string) bool { return strings.Contains(t, text) })
		},
		func(e Entry) bool {
			return slices.ContainsFunc(e.texts(), func(t string) bool { return strings.Contains(t, " ") && strings.Contains(text, t) })
		},
	} {
		for _, section := range Sections() {
			for _, entry := range section.Entries {
				if matches(entry) {
					found = append(found, Found{entry, section.One})
				}
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// texts returns the name and the texts of the entry in small letters.
func (e Entry) texts() []string {
	all := append([]string{e.Name}, e.Texts...)
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}

// Known reports whether there is an entry for the reason of a condition.
func Known(reason string) bool { return inSection(conditionsTitle)[reason] != "" }

// shortMessage limits the messages of the log that get a link. A longer message explains itself.
const shortMessage = 80

// Help returns the link to the entry for a line in the log, or an empty text if there is no entry or the message is
// long.
func Help(message string) string {
	if len(message) > shortMessage {
		return ""
	}
	return inSection(logTitle)[message]
}

// inSection returns the links to the entries of a section, by name.
func inSection(title string) map[string]string { return links()[title] }

var links = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, section := range Sections() {
		all[section.Title] = map[string]string{}
		for _, entry := range section.Entries {
			all[section.Title][entry.Name] = entry.Anchor()
		}
	}
	return all
})
