package explore

import "slices"

// spread orders disturbances so that a small number of them is about many requests: each request is disturbed once, in
// turn by another kind of disturbance, before any is disturbed a second time. The first write is followed by a kill.
func spread(choices []choice) (all []choice) {
	var targets [][]choice
	for i, c := range choices {
		if i == 0 || c.chapter != choices[i-1].chapter || c.place() != choices[i-1].place() || c.request != choices[i-1].request {
			targets = append(targets, nil)
		}
		targets[len(targets)-1] = append(targets[len(targets)-1], c)
	}
	starts := make([]int, len(targets)) // the index of the first disturbance of each target
	alike := map[act]int{}              // how many targets came with the same first disturbance
	for i, acts := range targets {
		first := slices.IndexFunc(acts, func(c choice) bool { return c.act == killAfter })
		starts[i] = max(first, 0) + alike[acts[0].act]
		alike[acts[0].act]++
	}
	for round := 0; len(all) < len(choices); round++ {
		for i, acts := range targets {
			if round < len(acts) {
				all = append(all, acts[(starts[i]+round)%len(acts)])
			}
		}
	}
	return all
}
