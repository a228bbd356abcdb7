package explore

import (
	"fmt"
	"strings"
)

// mostPlaces is how many states a picture shows at most.
const mostPlaces = 60

// svg returns a picture of the places: a tree of how each was reached first. Other ways are named by number.
func (a *atlas) svg(findings []*finding) string {
	shown := a.choose()
	c := &canvas{y: border + radius}
	if len(a.places) > 0 {
		a.draw(c, 0, 0, shown, findings)
	}
	c.legend(len(a.places) - len(shown))
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0[1]f %.0[2]f" font-family="sans-serif" font-size="13">
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, c.width+border, c.y+border-radius, c.b.String())
}

// choose returns the places to show: those on the way to a finding, then those without disturbances, then others.
func (a *atlas) choose() map[int]bool {
	shown := map[int]bool{}
	for _, wanted := range []func(p *node) bool{
		func(p *node) bool { return len(p.findings) > 0 },
		func(p *node) bool { return p.calm },
		func(*node) bool { return true },
	} {
		for i, p := range a.places {
			if !wanted(p) {
				continue
			}
			var way []int
			for at := i; at >= 0 && !shown[at]; at = a.places[at].from {
				way = append(way, at)
			}
			if len(shown)+len(way) > mostPlaces {
				continue
			}
			for _, at := range way {
				shown[at] = true
			}
		}
	}
	return shown
}

// draw draws a place and what was reached from it.
func (a *atlas) draw(c *canvas, at, depth int, shown map[int]bool, findings []*finding) {
	p := a.places[at]
	x, y := float64(border+radius+depth*indentation), c.y
	fill, line := strangeFill, strangeLine
	switch {
	case len(p.findings) > 0:
		fill, line = findingFill, findingLine
	case p.calm:
		fill, line = calmFill, calmLine
	}
	c.circle(x, y, fill, line, fmt.Sprint(at+1))
	c.text(x+radius+8, y-1, "#000000", p.event)
	c.text(x+radius+8, y+14, secondaryLines, p.remark(shown))
	c.y += rowHeight
	for _, n := range p.findings {
		c.branch(x, y, x+indentation-radius)
		c.finding(x+indentation-radius, c.y, n, findings[n-1])
		c.y += rowHeight
	}
	for i, child := range a.places {
		if child.from == at && shown[i] {
			c.branch(x, y, x+indentation-radius)
			a.draw(c, i, depth+1, shown, findings)
		}
	}
}

// remark returns the second line of a place: what it was reached with, how else it is reached, and where else it leads.
func (p *node) remark(shown map[int]bool) string {
	var parts []string
	if p.disturbances != "" {
		parts = append(parts, p.disturbances)
	}
	if p.also > 0 {
		parts = append(parts, fmt.Sprintf("also after %d disturbances", p.also))
	}
	for _, way := range p.exits {
		if shown[way.to] {
			parts = append(parts, fmt.Sprintf("%s → %d", way.event, way.to+1))
		}
	}
	return strings.Join(parts, "; ")
}
