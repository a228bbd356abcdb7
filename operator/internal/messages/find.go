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
	found = among(func(e Entry) bool { return strings.ToLower(e.Name) == text || strings.ToLower(e.Heading()) == text })
	if len(found) == 0 {
		found = among(func(e Entry) bool {
			return slices.ContainsFunc(e.texts(), func(t string) bool { return strings.Contains(t, text) })
		})
	}
	if len(found) == 0 {
		found = inMessage(text)
	}
	return found
}

// among returns the entries that match, in the order of the page.
func among(matches func(Entry) bool) (found []Found) {
	for _, section := range Sections() {
		for _, entry := range section.Entries {
			if matches(entry) {
				found = append(found, Found{entry, section.One})
			}
		}
	}
	return found
}

// inMessage returns the entries with a text that a message contains, unless it is only a part of another entry's text
// there.
func inMessage(message string) []Found {
	var said []string
	found := among(func(e Entry) bool {
		mine := e.textsIn(message)
		said = append(said, mine...)
		return len(mine) > 0
	})
	return slices.DeleteFunc(found, func(f Found) bool {
		return !slices.ContainsFunc(f.textsIn(message), func(mine string) bool {
			return !slices.ContainsFunc(said, func(other string) bool { return other != mine && strings.Contains(other, mine) })
		})
	})
}

// telling is the least length of a single word, such as CrashLoopBackOff, that says enough in a message.
const telling = 12

// textsIn returns the texts of the entry that a message contains, except for short words.
func (e Entry) textsIn(message string) []string {
	return slices.DeleteFunc(e.texts(), func(t string) bool {
		return len(t) < telling && !strings.ContainsAny(t, " :") || !strings.Contains(message, t)
	})
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
