graph [
  directed 1
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
    source 0
    target 5
    weight 0.1
  ]
  edge [
    source 0
    target 1
    weight 0.3333333333333333
  ]
  edge [
    source 1
    target 0
    weight 0.3333333333333333
  ]
  edge [
    source 1
    target 2
    weight 0.1
  ]
  edge [
    source 2
    target 3
    weight 0.1
  ]
  edge [
    source 3
    target 4
    weight 2.5E-07
  ]
  edge [
    source 4
    target 1
    weight -2.0
  ]
  edge [
    source 5
    target 4
    weight 12345.678
  ]
  edge [
    source 5
    target 0
    weight -2.0
  ]
]
