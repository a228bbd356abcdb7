// Package layered finds places for the nodes and edges of a directed graph without cycles, for a picture: layer beside layer, with few
// crossings, and each node near those that it has to do with.
//
//	places := layered.Place(layered.Graph{Depths: depths, Edges: edges, Widths: widths, Height: 30})
//
// It follows Sugiyama, Tagawa and Toda: edges over several layers are split by points between them, the order within layers is
// improved by barycentres, and heights by pools of neighbours. Use it for graphs that a person may want to look at, not for thousands of nodes.
package layered
