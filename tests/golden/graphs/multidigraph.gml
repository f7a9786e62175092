graph [
  directed 1
  multigraph 1
  node [
    id 0
    label "n5"
  ]
  node [
    id 1
    label "n3"
  ]
  node [
    id 2
    label "n8"
  ]
  node [
    id 3
    label "n1"
  ]
  node [
    id 4
    label "n0"
  ]
  node [
    id 5
    label "n7"
  ]
  edge [
    source 1
    target 4
    key 0
    weight 2.5E-07
  ]
  edge [
    source 1
    target 0
    key 0
    weight 0.1
  ]
  edge [
    source 3
    target 1
    key 0
    weight 2.5E-07
  ]
  edge [
    source 3
    target 1
    key 1
    weight 2.5E-07
  ]
  edge [
    source 3
    target 5
    key 0
    weight 12345.678
  ]
  edge [
    source 3
    target 5
    key 1
    weight -2.0
  ]
  edge [
    source 4
    target 1
    key 0
    weight 12345.678
  ]
  edge [
    source 5
    target 2
    key 0
    weight 2.5E-07
  ]
  edge [
    source 5
    target 5
    key 0
    weight 2.5E-07
  ]
]
