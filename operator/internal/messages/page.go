package messages

import (
	"fmt"
	"strings"
)

// File is the name of the page in the folder of the guide.
const File = "messages.md"

// columns is the width of the page.
const columns = 120

const pageAbout = "This page explains what an operator says, and what to do about it. Search it for the reason, or for a part " +
	"of the text. `NAME explain REASON` and `NAME explain \"words of a message\"` print the same in a terminal; `NAME` is your program."

// Page returns the page of the guide.
func Page() string {
	var page strings.Builder
	page.WriteString("<!-- Made by make generate from operator/internal/messages: change it there. -->\n\n# Messages\n\n")
	page.WriteString(wrapped(pageAbout, ""))
	page.WriteString("\n| section | entries |\n|---|---|\n")
	for _, section := range Sections() {
		fmt.Fprintf(&page, "| [%s](#%s) | %d |\n", section.Title, slug(section.Title), len(section.Entries))
	}
	for _, section := range Sections() {
		fmt.Fprintf(&page, "\n## %s\n\n%s", section.Title, wrapped(section.About, ""))
		for _, entry := range section.Entries {
			page.WriteString("\n" + entry.markdown())
		}
	}
	return page.String()
}

// markdown returns the entry as a part of the page.
func (e Entry) markdown() string {
	text := "### " + e.Heading() + "\n\n"
	if met := e.met(); met != "" {
		text += wrapped(met+".", "") + "\n"
	}
	return text + wrapped(e.Meaning, "") + "\n" +
		wrapped("- **Cause**: "+e.Cause, "  ") + wrapped("- **What to do**: "+e.Remedy, "  ")
}

// met describes where the message is met, and which text it has.
func (e Entry) met() string {
	texts := make([]string, len(e.Texts))
	for i, text := range e.Texts {
		texts[i] = "`" + text + "`"
	}
	met := strings.Join(texts, ", ")
	switch {
	case e.Where == "" && met == "":
		return ""
	case e.Where == "":
		return "Text: " + met
	case met == "":
		return strings.ToUpper(e.Where[:1]) + e.Where[1:]
	}
	return strings.ToUpper(e.Where[:1]) + e.Where[1:] + "; text: " + met
}

// wrapped returns a paragraph. All lines but the first one begin with indent. It doesn't break a line inside of code,
// so that a search finds the code.
func wrapped(text, indent string) string {
	var lines []string
	line := ""
	for _, word := range unbreakable(text) {
		if line != "" && len(line)+1+len(word) > columns {
			lines, line = append(lines, line), indent+word
			continue
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n") + "\n"
}

// unbreakable returns the words of a text. Code between backticks is one word.
func unbreakable(text string) (words []string) {
	inside := false
	for _, word := range strings.Fields(text) {
		if inside {
			words[len(words)-1] += " " + word
		} else {
			words = append(words, word)
		}
		if strings.Count(word, "`")%2 == 1 {
			inside = !inside
		}
	}
	return words
}
